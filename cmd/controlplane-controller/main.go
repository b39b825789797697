// Command controlplane-controller fulfils Gardener's ControlPlane objects, keeps their health, and tunes what Gardener itself
// deploys for a shoot. It only composes: the process, the contract, its webhooks, and a driver for each type.
package main

import (
	"os"

	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/openstack"
	"github.com/trellis-garden/trellis/internal/manager"
)

func main() {
	etcd := newEtcdFlags()
	types := []string{openstack.Type}
	os.Exit(manager.Main(manager.Binary{
		Name: "controlplane-controller",
		Description: "Fulfils Gardener's ControlPlane objects: cloud-controller-manager, storage drivers and storage classes of shoots; " +
			"tunes kube-apiserver, kube-controller-manager, kubelet, etcd and credentials by webhooks.",
		Types:       types,
		Webhooks:    controlplane.WebhookNames(types),
		Flags:       etcd.flags(),
		AddToScheme: addToScheme,
		Setup:       func(p *manager.Process) error { return setup(p, etcd) },
	}))
}

func addToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		extensionsv1alpha1.AddToScheme, resourcesv1alpha1.AddToScheme, druidcorev1alpha1.AddToScheme,
		vpaautoscalingv1.AddToScheme, monitoringv1.AddToScheme,
		// Whether a kube-apiserver runs and how components are is read from Deployments, what has to go from a shoot are bindings.
		appsv1.AddToScheme, rbacv1.AddToScheme,
	)
	return builder.AddToScheme(scheme)
}

func setup(p *manager.Process, etcd *etcdFlags) error {
	images, err := controlplane.ReadImages(openstack.ImageVector())
	if err != nil {
		return err
	}
	drivers := map[string]controlplane.Driver{
		openstack.Type: openstack.New(),
	}
	options := contract.Options{
		Types:                     p.Types,
		Classes:                   manager.ClassesAs[extensionsv1alpha1.ExtensionClass](p),
		MaxConcurrentReconciles:   p.MaxConcurrentReconciles,
		IgnoreOperationAnnotation: p.IgnoreOperationAnnotation,
		Registerer:                p.Registerer,
	}
	if err := controlplane.Add(p.Manager, drivers, images, options); err != nil {
		return err
	}
	if err := controlplane.AddHealth(p.Manager, options); err != nil {
		return err
	}
	return serveWebhooks(p, drivers, etcd)
}
