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

// TestRun_Additions builds the images of gardenet-agent, which has nft out of Debian packages and the CNI plugins, and of gardenet-service-router, which has nft out
// of the same packages, and is in a module of its own.
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
	for command, want := range map[string]struct{ files, components, absent []string }{
		"gardenet-agent": {
			files: []string{
				"gardenet-agent", "usr/sbin/nft", "etc/protocols", "usr/share/doc/nftables/copyright", "opt/cni/bin/ptp", "opt/cni/bin/host-local", "opt/cni/bin/portmap", "opt/cni/bin/bandwidth",
				"opt/cni/bin/loopback",
			},
			components: []string{"pkg:deb/debian/nftables@", "pkg:golang/github.com/containernetworking/plugins@v"},
		},
		"gardenet-service-router": {
			files:      []string{"gardenet-service-router", "usr/sbin/nft", "etc/protocols", "usr/share/doc/nftables/copyright"},
			components: []string{"pkg:deb/debian/nftables@", "pkg:golang/k8s.io/kubernetes@v"},
			absent:     []string{"opt/cni/bin/ptp", "gardenet-agent"},
		},
	} {
		t.Run(command, func(t *testing.T) {
			out := t.TempDir()
			output := mustRun(t, append(stamp(), "--source", root, "--out", out, "--binary", command, "--platform", "linux/"+runtime.GOARCH)...)
			image, err := tarball.ImageFromPath(filepath.Join(out, command+".tar"), nil)
			require.NoError(t, err)
			files := extract(t, mutate.Extract(image))
			for _, name := range want.files {
				assert.NotEmpty(t, files[name], name)
			}
			for _, name := range want.absent {
				assert.NotContains(t, files, name)
			}
			bill, err := os.ReadFile(filepath.Join(out, command+"."+runtime.GOARCH+".cdx.json"))
			require.NoError(t, err)
			for _, component := range want.components {
				assert.Contains(t, string(bill), component)
			}
			assert.NotContains(t, output, "no license", "every component of the product has a license that is known")
		})
	}
}
