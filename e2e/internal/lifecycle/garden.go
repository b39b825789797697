package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

const (
	project          = "dev"
	projectNamespace = "garden-" + project
	cloudProfile     = "openstack"
	auditPolicy      = "audit-policy"
	// shootAuditPolicy is the user's: who has asked for what, and the answer.
	shootAuditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`
	// admissionTimeout bounds how long caches of gardener-apiserver's admission plugins are behind.
	admissionTimeout = time.Minute
)

// prepare creates what an admin and a user create before a Shoot: project, cloud profile, credentials.
func (r *run) prepare(ctx context.Context) error {
	main, err := r.openAccount(ctx, mainShoot)
	if err != nil {
		return err
	}
	r.main = main
	if err := r.ensure(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: projectNamespace, Labels: map[string]string{
		v1beta1constants.GardenRole: v1beta1constants.GardenRoleProject, v1beta1constants.ProjectName: project,
	}}}); err != nil {
		return err
	}
	if err := r.ensure(ctx, &gardencorev1beta1.Project{
		ObjectMeta: metav1.ObjectMeta{Name: project}, Spec: gardencorev1beta1.ProjectSpec{Namespace: new(projectNamespace)},
	}); err != nil {
		return err
	}
	if err := r.await(ctx, "project "+project, func(ctx context.Context) (string, error) {
		found := &gardencorev1beta1.Project{}
		if err := r.garden.Get(ctx, client.ObjectKey{Name: project}, found); err != nil {
			return "", err
		}
		if found.Status.Phase != gardencorev1beta1.ProjectReady {
			return string(found.Status.Phase), fmt.Errorf("it is %q", found.Status.Phase)
		}
		return "", nil
	}); err != nil {
		return err
	}
	if err := r.ensure(ctx, r.cloudProfile(main)); err != nil {
		return err
	}
	if err := r.ensure(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: projectNamespace, Name: auditPolicy}, Data: map[string]string{"policy": shootAuditPolicy},
	}); err != nil {
		return err
	}
	return r.addCredentials(ctx, main)
}

// cloudProfile is the admin's.
func (r *run) cloudProfile(main *shoot) *gardencorev1beta1.CloudProfile {
	profile := &gardencorev1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: cloudProfile},
		Spec: gardencorev1beta1.CloudProfileSpec{
			Type: openstack.Type, ProviderConfig: raw(main.template.CloudProfileConfig),
			MachineTypes: main.template.MachineTypes, MachineImages: main.template.MachineImages,
			Regions: []gardencorev1beta1.Region{{
				Name: r.Cloud.Region(), Zones: []gardencorev1beta1.AvailabilityZone{{Name: openstack.Zone}},
			}},
		},
	}
	for _, version := range r.Versions {
		profile.Spec.Kubernetes.Versions = append(profile.Spec.Kubernetes.Versions, gardencorev1beta1.ExpirableVersion{Version: version})
	}
	return profile
}

// addCredentials creates the Secret of a Shoot's account and its binding.
func (r *run) addCredentials(ctx context.Context, s *shoot) error {
	meta := metav1.ObjectMeta{Namespace: projectNamespace, Name: s.credentials()}
	if err := r.ensure(ctx, &corev1.Secret{ObjectMeta: meta, Data: s.account.Credentials()}); err != nil {
		return err
	}
	return r.ensure(ctx, &securityv1alpha1.CredentialsBinding{
		ObjectMeta: meta, Provider: securityv1alpha1.CredentialsBindingProvider{Type: openstack.Type},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: projectNamespace, Name: s.credentials()},
	})
}

// ensure creates an object, or replaces one of an earlier run. gardener-apiserver refuses objects whose references it does not know yet.
func (r *run) ensure(ctx context.Context, object client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, admissionTimeout)
	defer cancel()
	what := fmt.Sprintf("%T %s", object, object.GetName())
	return r.await(ctx, what+" to be accepted", func(ctx context.Context) (string, error) {
		created, _ := object.DeepCopyObject().(client.Object)
		err := r.garden.Create(ctx, created)
		if !apierrors.IsAlreadyExists(err) {
			return "", err
		}
		present, _ := object.DeepCopyObject().(client.Object)
		if err := r.garden.Get(ctx, client.ObjectKeyFromObject(object), present); err != nil {
			return "", err
		}
		if _, isNamespace := object.(*corev1.Namespace); isNamespace {
			return "", nil
		}
		created.SetResourceVersion(present.GetResourceVersion())
		return "", r.garden.Update(ctx, created)
	})
}

// createShoot creates a Shoot. Refusals that are only due to a cache are retried.
func (r *run) createShoot(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	ctx, cancel := context.WithTimeout(ctx, admissionTimeout)
	defer cancel()
	return r.await(ctx, "Shoot "+shoot.Name+" to be accepted", func(ctx context.Context) (string, error) {
		err := r.garden.Create(ctx, shoot.DeepCopy())
		if apierrors.IsAlreadyExists(err) {
			return "", errors.New("there is one of an earlier run")
		}
		return "", err
	})
}
