package main

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/images/internal/debian"
)

// TestRun_Additions builds the image of gardenet-agent, which has nft out of Debian packages and the CNI plugins.
func TestRun_Additions(t *testing.T) {
	source, err := debian.NewSource(t.Context(), "")
	if err != nil {
		t.Skip(err)
	}
	response, err := http.Get(source.Mirror + "/README")
	if err != nil {
		t.Skipf("Debian's packages cannot be reached: %v", err)
	}
	require.NoError(t, response.Body.Close())
	out := t.TempDir()
	output := mustRun(t, append(stamp(), "--source", root, "--out", out, "--binary", "gardenet-agent", "--platform", "linux/"+runtime.GOARCH)...)
	image, err := tarball.ImageFromPath(filepath.Join(out, "gardenet-agent.tar"), nil)
	require.NoError(t, err)
	files := extract(t, mutate.Extract(image))
	for _, name := range []string{
		"gardenet-agent", "usr/sbin/nft", "usr/share/doc/nftables/copyright", "opt/cni/bin/ptp", "opt/cni/bin/host-local", "opt/cni/bin/portmap", "opt/cni/bin/bandwidth",
		"opt/cni/bin/loopback",
	} {
		assert.NotEmpty(t, files[name], name)
	}
	bill, err := os.ReadFile(filepath.Join(out, "gardenet-agent."+runtime.GOARCH+".cdx.json"))
	require.NoError(t, err)
	for _, component := range []string{"pkg:deb/debian/nftables@", "pkg:golang/github.com/containernetworking/plugins@v"} {
		assert.Contains(t, string(bill), component)
	}
	assert.NotContains(t, output, "no license", "every component of the product has a license that is known")
}
