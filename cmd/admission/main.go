// Command admission validates what users write in the garden, and sets defaults of new shoots. It runs in the garden's runtime cluster.
// It only composes the process and a provider package for each type.
package main

import (
	"os"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/manager"
)

func main() {
	defaults := newDefaults()
	os.Exit(manager.Main(manager.Binary{
		Name: "admission",
		Description: "Validates and defaults in the garden what users write: shoots, cloud profiles, credentials and registrations; " +
			"fills in what new shoots leave open. Runs in the garden's runtime cluster.",
		Types:       types(),
		Garden:      true,
		Webhooks:    webhookNames(),
		Flags:       defaults.flags(),
		AddToScheme: addToScheme,
		Setup:       func(p *manager.Process) error { return serveWebhooks(p, defaults) },
	}))
}

func addToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		gardencorev1beta1.AddToScheme, securityv1alpha1.AddToScheme,
		// In the runtime cluster, gardener-operator creates registrations from its Extensions.
		operatorv1alpha1.AddToScheme,
	)
	return builder.AddToScheme(scheme)
}
