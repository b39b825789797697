package aws

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nginxProxyProtocol is the setting of the nginx add-on by which it expects the proxy protocol.
const nginxProxyProtocol = "use-proxy-protocol"

// validateNginxAddon refuses an add-on that would answer no request: Gardener makes its load balancer on AWS speak the proxy protocol, and the default of its
// configuration is not to expect that. Upstream's extension changes the configuration by a webhook in the shoot. Since Kubernetes 1.35 no shoot has the
// add-on.
func validateNginxAddon(shoot *gardencorev1beta1.Shoot) field.ErrorList {
	addons := shoot.Spec.Addons //nolint:staticcheck // shoots of older versions of Kubernetes may have it
	if addons == nil || addons.NginxIngress == nil || !addons.NginxIngress.Enabled || addons.NginxIngress.Config[nginxProxyProtocol] == "true" {
		return nil
	}
	path := field.NewPath("shoot", "spec", "addons", "nginxIngress", "config").Key(nginxProxyProtocol)
	return field.ErrorList{field.Required(path, `set "true": the load balancer of the add-on speaks the proxy protocol on AWS`)}
}
