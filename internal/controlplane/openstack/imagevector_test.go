package openstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

func TestImagesFollowTheShoot(t *testing.T) {
	images, err := controlplane.ReadImages(ImageVector())
	require.NoError(t, err)
	for _, minor := range []string{"1.32", "1.33", "1.34", "1.35", "1.36"} {
		find := controlplane.ImagesFor(images, minor+".7")
		for _, name := range []string{"cloud-controller-manager", "csi-driver-cinder", "csi-driver-manila"} {
			image, err := find(name)
			require.NoError(t, err)
			_, tag, _ := strings.Cut(image, ":")
			assert.Regexp(t, `^v`+minor+`\.\d+$`, tag, "%s: the minor version is the shoot's", image)
		}
		_, err := find("csi-driver-nfs")
		assert.NoError(t, err)
	}
	for _, unsupported := range []string{"1.31.9", "1.37.0"} {
		_, err := controlplane.ImagesFor(images, unsupported)("cloud-controller-manager")
		assert.ErrorContains(t, err, unsupported)
	}
}
