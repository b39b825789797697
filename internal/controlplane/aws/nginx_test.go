package aws

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

func TestDriver_Validate_NginxAddon(t *testing.T) {
	with := func(enabled bool, config map[string]string) func(*controlplane.Shoot) {
		return func(shoot *controlplane.Shoot) {
			shoot.Cluster.Shoot.Spec.Addons = &gardencorev1beta1.Addons{ //nolint:staticcheck // shoots of older versions of Kubernetes may have it
				NginxIngress: &gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: enabled}, Config: config},
			}
		}
	}
	errs := New().Validate(awsShoot(with(true, map[string]string{"use-proxy-protocol": "false"})))
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], `shoot.spec.addons.nginxIngress.config[use-proxy-protocol]: Required value: set "true"`)
	assert.Len(t, New().Validate(awsShoot(with(true, nil))), 1)
	assert.Empty(t, New().Validate(awsShoot(with(true, map[string]string{"use-proxy-protocol": "true"}))))
	assert.Empty(t, New().Validate(awsShoot(with(false, nil))))
}
