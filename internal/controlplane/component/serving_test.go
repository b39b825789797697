package component_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

func TestServingFlags(t *testing.T) {
	flags := component.ServingFlags(10258, "/etc/tls")
	require.Len(t, flags, 4)
	assert.Equal(t, []string{"--secure-port=10258", "--tls-cert-file=/etc/tls/tls.crt", "--tls-private-key-file=/etc/tls/tls.key"}, flags[:3])
	suites, found := strings.CutPrefix(flags[3], "--tls-cipher-suites=")
	require.True(t, found)
	for suite := range strings.SplitSeq(suites, ",") {
		assert.Regexp(t, `^TLS_.*(GCM_SHA256|GCM_SHA384|CHACHA20_POLY1305(_SHA256)?)$`, suite)
	}
}
