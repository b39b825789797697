// Command network-controller fulfils Gardener's Network objects and keeps their health. It only composes: the process, the
// contract, and a driver for each type of network plugin.
package main

import (
	"os"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/network/calico"
)

func main() {
	os.Exit(manager.Main(manager.Binary{
		Name:        "network-controller",
		Description: "Fulfils Gardener's Network objects: brings network plugins into shoots, changes them without cutting pods off, and watches their health.",
		Types:       []string{calico.Type},
		AddToScheme: addToScheme,
		Setup:       setup,
	}))
}

// addToScheme knows what is read and written, and what plugins consist of.
func addToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		clientgoscheme.AddToScheme, extensionsv1alpha1.AddToScheme, resourcesv1alpha1.AddToScheme,
		vpaautoscalingv1.AddToScheme, monitoringv1.AddToScheme, monitoringv1alpha1.AddToScheme,
	)
	return builder.AddToScheme(scheme)
}

func setup(p *manager.Process) error {
	vector, err := images.Read(calico.ImageVector())
	if err != nil {
		return err
	}
	drivers := map[string]network.Driver{
		calico.Type: calico.New(),
	}
	options := contract.Options{
		Types:                     p.Types,
		Classes:                   manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		MaxConcurrentReconciles:   p.MaxConcurrentReconciles,
		IgnoreOperationAnnotation: p.IgnoreOperationAnnotation,
		Registerer:                p.Registerer,
	}
	if err := network.Add(p.Manager, drivers, vector, options); err != nil {
		return err
	}
	return network.AddHealth(p.Manager, options)
}
