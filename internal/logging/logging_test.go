package logging_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/logging"
)

func TestNew(t *testing.T) {
	tests := map[string]struct {
		level, format string
		want          []string
	}{
		"info hides what changed nothing":      {level: logging.Info, format: logging.JSON, want: []string{`"msg":"changed"`, `"msg":"failed"`}},
		"debug shows what changed nothing":     {level: logging.Debug, format: logging.JSON, want: []string{`"msg":"looked"`, `"msg":"changed"`, `"msg":"failed"`}},
		"error shows errors alone":             {level: logging.Error, format: logging.JSON, want: []string{`"msg":"failed"`}},
		"text is for people and has no traces": {level: logging.Info, format: logging.Text, want: []string{"INFO\tchanged", "ERROR\tfailed"}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			var out bytes.Buffer
			log := logging.New(test.level, test.format, &out)
			log.V(1).Info("looked")
			log.Info("changed", "router", "r-1")
			log.Error(errors.New("no"), "failed")

			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			require.Len(t, lines, len(test.want), out.String())
			for i, want := range test.want {
				assert.Contains(t, lines[i], want)
			}
		})
	}
}
