package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/account"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardener"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

// admissionOwner is the namespace in the garden that owns the webhook configurations of our admission.
const admissionOwner = "extension-admission"

// startAdmission starts our admission for the garden, with the rights that its charts give it. The first seed is also the cluster in which an admin
// would deploy it.
func (l *landscape) startAdmission(ctx context.Context) error {
	l.standIns.add(standin.StandIn{
		Name:   "Deployment of our admission",
		Reason: "gardener-operator, which deploys it, does not run: it is a process with the RBAC of its charts, and API servers call it by its URL",
	})
	binary := controller.Admission()
	path, err := binary.Path()
	if err != nil {
		return err
	}
	home := l.seeds[0]
	source, err := repo.ModuleDir(ctx, "github.com/gardener/gardener")
	if err != nil {
		return err
	}
	if _, err := envtest.InstallCRDs(home.Config, envtest.CRDInstallOptions{
		ErrorIfPathMissing: true, Paths: []string{filepath.Join(source, "example", "operator", "10-crd-operator.gardener.cloud_extensions.yaml")},
	}); err != nil {
		return fmt.Errorf("creating the kind Extension of gardener-operator: %w", err)
	}
	dir := filepath.Join(l.dir, binary.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	inHome, inGarden, err := controller.AdmissionRights(v1beta1constants.GardenNamespace, admissionOwner)
	if err != nil {
		return err
	}
	homeKubeconfig, err := grant(ctx, home.Cluster, dir, v1beta1constants.GardenNamespace, inHome)
	if err != nil {
		return err
	}
	gardenKubeconfig, err := grant(ctx, l.garden.Cluster, dir, admissionOwner, inGarden)
	if err != nil {
		return err
	}
	l.admission, err = binary.StartAdmission(ctx, controller.AdmissionOptions{
		Path: path, Output: filepath.Join(dir, "admission.log"), Runtime: homeKubeconfig, Garden: gardenKubeconfig,
		Namespace: v1beta1constants.GardenNamespace, OwnerNamespace: admissionOwner, Address: gardener.AdmissionAddress(),
		// It is the only one, and no kubelet starts it again after it could not renew its Lease.
		LeaderElection: false,
	})
	return err
}

// grant creates a namespace and RBAC objects in a cluster, and returns the path of the kubeconfig of their subject.
func grant(ctx context.Context, cluster *gardener.Cluster, dir, namespace string, objects []*unstructured.Unstructured) (string, error) {
	created := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}
	var subject rbacv1.Subject
	for _, object := range objects {
		created = append(created, object)
		if object.GetKind() != "ClusterRoleBinding" {
			continue
		}
		binding := &rbacv1.ClusterRoleBinding{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding); err != nil {
			return "", err
		}
		subject = binding.Subjects[0]
	}
	created = append(created, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: subject.Name, Namespace: subject.Namespace}})
	for _, object := range created {
		if err := cluster.Client.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return "", fmt.Errorf("creating %s %s in %s: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), cluster.Name, err)
		}
	}
	return account.Kubeconfig(ctx, cluster.Client, cluster.Config, dir, subject.Namespace, subject.Name)
}
