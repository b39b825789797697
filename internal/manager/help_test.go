package manager

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/golden"
)

func TestHelpPage(t *testing.T) {
	for name, binary := range map[string]Binary{
		"help.txt": testBinary(), "help-webhooks.txt": shootWebhookBinary(), "help-garden.txt": gardenBinary(),
		"help-secondary.txt": observingBinary(),
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer

			code := binary.run(t.Context(), []string{"--help"}, environment{}, &stdout, &stderr)

			require.Equal(t, exitClean, code)
			require.Empty(t, stderr.String())
			golden.Check(t, filepath.Join("testdata", name), stdout.String())
		})
	}
}

func TestRun_HelpAndVersion(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"help with a wrong flag":      {args: []string{"--help", "--log-level=loud"}, want: "Usage:"},
		"the short form of help":      {args: []string{"-h"}, want: "Usage:"},
		"version without types":       {args: []string{"--version"}, want: "infrastructure-controller "},
		"version with an unknown one": {args: []string{"--version", "--nonsense"}, want: "commit"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := testBinary().run(t.Context(), test.args, environment{}, &stdout, &stderr)
			assert.Equal(t, exitClean, code)
			assert.Contains(t, stdout.String(), test.want)
			assert.Empty(t, stderr.String())
		})
	}
}

func TestRun_InvalidCommandLine(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := testBinary().run(t.Context(), []string{"--types=azure"}, inPod(), &stdout, &stderr)
	assert.Equal(t, exitUsage, code)
	assert.Empty(t, stdout.String())
	assert.Equal(t, `infrastructure-controller: wrong command line:
  --types: "azure" has "azure", which is not compiled in; allowed: aws, openstack
Run with --help to see all flags.
`, stderr.String())
}
