// Command controllerinstallation-controller brings extension controllers into seeds: it fulfils the ControllerInstallations whose ControllerDeployment
// has the type "trellis". It runs in a seed, and serves that one, or beside the garden, and rolls changes out over all seeds in waves. It only composes.
package main

import (
	"os"

	authenticationv1alpha1 "github.com/gardener/gardener/pkg/apis/authentication/v1alpha1"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	seedmanagementv1alpha1 "github.com/gardener/gardener/pkg/apis/seedmanagement/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rendering"
	"github.com/trellis-garden/trellis/internal/manager"
)

func main() {
	rendering.RunIfChild()
	settings := newSettings(os.Getenv)
	os.Exit(manager.Main(manager.Binary{
		Name: "controllerinstallation-controller",
		Description: "Brings extension controllers into seeds: fulfils the ControllerInstallations whose ControllerDeployment has the type " +
			installationv1alpha1.DeploymentType + ". In a seed it serves that seed; elsewhere it serves many, and rolls changes out in waves.",
		Types:       []string{installationv1alpha1.DeploymentType},
		Garden:      true,
		Flags:       settings.flags(),
		Commands:    commands(),
		AddToScheme: addToScheme,
		Setup:       func(p *manager.Process) error { return setup(p, settings) },
	}))
}

func commands() []manager.Command {
	return []manager.Command{{
		Name:  "status",
		Usage: "Print what is registered for the operator, its revisions and its installations. Takes the kubeconfigs.",
		Run:   controllerinstallation.PrintStatus,
	}}
}

func addToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		clientgoscheme.AddToScheme, gardencorev1.AddToScheme, gardencorev1beta1.AddToScheme, seedmanagementv1alpha1.AddToScheme,
		authenticationv1alpha1.AddToScheme, resourcesv1alpha1.AddToScheme, extensionsv1alpha1.AddToScheme,
	)
	return builder.AddToScheme(scheme)
}
