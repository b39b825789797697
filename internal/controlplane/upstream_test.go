package controlplane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
	"github.com/trellis-garden/trellis/internal/controlplane/example"
)

const (
	upstreamBinding = "extensions.gardener.cloud:provider-example:admin"
	upstreamWebhook = "gardener-extension-provider-example-shoot"
)

// fromUpstream makes the subject's shoot one that upstream's extension has served so far, and the driver one that knows.
func fromUpstream(t *testing.T, d *driver) func(*controlplanetest.Subject) {
	t.Helper()
	d.change = func(plan *controlplane.Plan, _ *controlplane.Shoot) {
		binding := newUpstreamBinding()
		binding.Annotations = map[string]string{resourcesv1alpha1.KeepObject: "false"}
		binding.Subjects = nil
		plan.Retired = append(plan.Retired, binding)
	}
	return func(subject *controlplanetest.Subject) {
		subject.Inputs.Upstream = func(namespace string) []client.Object { return upstreamObjects(t, namespace) }
		subject.Inputs.Retired = []contracttest.Key{
			{Kind: "ClusterRoleBinding", Name: upstreamBinding}, {Kind: "MutatingWebhookConfiguration", Name: upstreamWebhook},
		}
	}
}

func newUpstreamBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: upstreamBinding, Annotations: map[string]string{resourcesv1alpha1.KeepObject: "true"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: ccmName, Namespace: metav1.NamespaceSystem}},
	}
}

// upstreamObjects returns what upstream's extension leaves in a namespace: six ManagedResources with their Secrets, certificates of
// Gardener's secrets manager, and Secrets for access to the shoot.
func upstreamObjects(t *testing.T, namespace string) []client.Object {
	t.Helper()
	named := func(apiVersion, kind, name string) map[string]any {
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	}
	in := func(namespace string, object map[string]any) map[string]any {
		object["metadata"].(map[string]any)["namespace"] = namespace
		return object
	}
	objects := upstreamCertificates(t, namespace)
	for name, content := range map[string][]any{
		controlplanetest.Seed:                  {in(namespace, named("apps/v1", "Deployment", ccmName))},
		controlplanetest.UpstreamConfiguration: {in(namespace, named("v1", "Secret", "cloud-provider-config"))},
		controlplanetest.ShootObjects:          {named("rbac.authorization.k8s.io/v1", "ClusterRole", ccmRole), newUpstreamBinding(), in(metav1.NamespaceSystem, named("apps/v1", "DaemonSet", csiNode))},
		controlplanetest.ShootCRDs:             {named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "volumesnapshots.snapshot.storage.k8s.io")},
		controlplanetest.StorageClasses:        {named("storage.k8s.io/v1", "StorageClass", "default")},
		controlplanetest.ShootWebhooks:         {named("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", upstreamWebhook)},
	} {
		objects = append(objects, upstreamManagedResource(t, namespace, name, content)...)
	}
	for _, name := range []string{ccmName, "csi-provisioner"} {
		access := component.ShootAccessSecret(name, namespace)
		access.Data = map[string][]byte{resourcesv1alpha1.DataKeyToken: []byte("upstream's token of " + name)}
		objects = append(objects, access)
	}
	return objects
}

func upstreamManagedResource(t *testing.T, namespace, name string, content []any) []client.Object {
	t.Helper()
	files := map[string][]byte{}
	for i, object := range content {
		file, err := yaml.Marshal(object)
		require.NoError(t, err)
		files[fmt.Sprintf("provider-example_templates_%d.yaml", i)] = file
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: files, Type: corev1.SecretTypeOpaque}
	require.NoError(t, kubernetesutils.MakeUnique(secret))
	resource := &resourcesv1alpha1.ManagedResource{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Annotations: map[string]string{"reference.resources.gardener.cloud/secret-0123abcd": secret.Name},
		},
		Spec: resourcesv1alpha1.ManagedResourceSpec{
			SecretRefs: []corev1.LocalObjectReference{{Name: secret.Name}}, KeepObjects: new(false), ForceOverwriteAnnotations: new(false),
			InjectLabels: map[string]string{v1beta1constants.ShootNoCleanup: "true"},
		},
	}
	if name == controlplanetest.Seed || name == controlplanetest.UpstreamConfiguration {
		resource.Spec.Class, resource.Spec.InjectLabels = new("seed"), nil
	}
	return []client.Object{secret, resource}
}

// upstreamCertificates has Gardener's own library make them, in upstream's name.
func upstreamCertificates(t *testing.T, namespace string) []client.Object {
	t.Helper()
	const ca = "ca-provider-example-controlplane"
	c := fake.NewClientBuilder().Build()
	certificates, err := secretsmanager.New(t.Context(), logr.Discard(), clock.RealClock{}, c, "provider-example-controlplane",
		secretsmanager.WithNamespaces(namespace))
	require.NoError(t, err)
	_, err = certificates.Generate(t.Context(), &secretsutils.CertificateSecretConfig{Name: ca, CommonName: ca, CertType: secretsutils.CACert},
		secretsmanager.Persist(), secretsmanager.Rotate(secretsmanager.KeepOld))
	require.NoError(t, err)
	_, err = certificates.Generate(t.Context(), &secretsutils.CertificateSecretConfig{
		Name: "upstream-server", CommonName: "upstream", DNSNames: []string{"upstream"}, CertType: secretsutils.ServerCert, SkipPublishingCACertificate: true,
	}, secretsmanager.SignedByCA(ca))
	require.NoError(t, err)
	list := &corev1.SecretList{}
	require.NoError(t, c.List(t.Context(), list))
	objects := make([]client.Object, 0, len(list.Items))
	for i := range list.Items {
		list.Items[i].ResourceVersion = ""
		objects = append(objects, &list.Items[i])
	}
	return objects
}

func TestReconcile_FromUpstream(t *testing.T) {
	d := &driver{}
	h := newHarness(t, d, fromUpstream(t, d))
	h.Manager.Seed().ClearHistory()
	h.Manager.Shoot().ClearHistory()
	h.Manager.SetRollingOut(true)
	h.Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	eventually(t, func() bool { return h.Manager.Shoot().Get("MutatingWebhookConfiguration", upstreamWebhook) == nil })
	configuration := client.ObjectKey{Namespace: h.Namespace, Name: controlplanetest.UpstreamConfiguration}
	h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		return errorUnless(strings.Contains(o.Status.LastOperation.Description, "removing what upstream's extension left"), "it does not say what it does")
	})
	require.NoError(t, h.Client.Get(t.Context(), configuration, &resourcesv1alpha1.ManagedResource{}))
	assert.NotNil(t, h.Manager.Seed().Get("Secret", "cloud-provider-config"), "pods may still use it")

	h.Manager.SetRollingOut(false)
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	h.Ready()
	assert.Nil(t, h.Manager.Seed().Get("Secret", "cloud-provider-config"))
	access := &corev1.Secret{}
	require.NoError(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: "shoot-access-" + ccmName}, access))
	assert.Equal(t, "upstream's token of "+ccmName, string(access.Data[resourcesv1alpha1.DataKeyToken]), "the token is left alone")

	history := h.Manager.Shoot().History()
	subjectsRemoved, gone := "changed ClusterRoleBinding "+upstreamBinding, "deleted ClusterRoleBinding "+upstreamBinding
	assert.Subset(t, history, []string{subjectsRemoved, gone, "changed ClusterRole " + ccmRole, "changed DaemonSet " + csiNode})
	assert.Less(t, slices.Index(history, subjectsRemoved), slices.Index(history, gone))
	for _, sentence := range append(history, h.Manager.Seed().History()...) {
		assert.NotContains(t, []string{"created ClusterRole " + ccmRole, "created StorageClass default", "created Deployment " + ccmName}, sentence)
	}
	assert.NotContains(t, h.Manager.Seed().History(), "deleted Deployment "+ccmName)
	h.Reconcile()
	h.Delete()
}

func TestReconcile_FromUpstreamRolloutPending(t *testing.T) {
	d := &driver{}
	h := newHarness(t, d, fromUpstream(t, d), withActuator(t, d, 50*time.Millisecond, func(a controlplane.Actuator) controlplane.Actuator { return a }))
	h.Manager.SetRollingOut(true)
	h.Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	object := h.Succeeded()
	assert.Equal(t, "Create of controlplane succeeded; pods may still use the configuration of the extension before, which stays for now",
		object.Status.LastOperation.Description)
	h.Manager.SetRollingOut(false)
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	// The wait for the rollout is so short that a busy machine may need more than one operation.
	for range 20 {
		h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
		if h.Succeeded().Status.LastOperation.Description == "Reconcile of controlplane succeeded" {
			break
		}
	}
	h.Ready()
}

// withActuator puts a changed actuator into the subject's process.
func withActuator(
	t *testing.T, d *driver, rolloutWait time.Duration, change func(controlplane.Actuator) controlplane.Actuator,
) func(*controlplanetest.Subject) {
	t.Helper()
	images := exampleImages(t)
	return func(subject *controlplanetest.Subject) {
		subject.Program = func(mgr manager.Manager, options contract.Options) error {
			return controlplane.AddWithActuator(mgr, map[string]controlplane.Driver{example.Type: d}, images, options, rolloutWait, change)
		}
	}
}

func TestReconcile_FromUpstreamHibernated(t *testing.T) {
	d := &driver{}
	h := newHarness(t, d, fromUpstream(t, d))
	h.Manager.SetHibernated(true)
	h.ScaleKubeAPIServer(0)
	h.ChangeShoot(withHibernation(true))
	h.Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	assert.True(t, isHibernated(t, h))
	require.Error(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: controlplanetest.UpstreamConfiguration},
		&resourcesv1alpha1.ManagedResource{}), "nobody uses it")
	assert.NotNil(t, h.Manager.Shoot().Get("MutatingWebhookConfiguration", upstreamWebhook), "nobody could delete it")

	h.ScaleKubeAPIServer(1)
	h.Manager.SetHibernated(false)
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	h.ChangeShoot(withHibernation(false))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Ready()
}

func TestMigrate_FromUpstream(t *testing.T) {
	d := &driver{}
	h := newHarness(t, d, fromUpstream(t, d))
	h.Start()
	h.Deploy(v1beta1constants.GardenerOperationMigrate, func(o *extensionsv1alpha1.ControlPlane) {
		o.Finalizers = []string{controlplane.Finalizer}
	})
	h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		return errorUnless(len(o.Finalizers) == 0, "it has not been let go of")
	})
	assert.Nil(t, h.Manager.Shoot().Get("MutatingWebhookConfiguration", upstreamWebhook), "its server is gone")
	assert.NotNil(t, h.Manager.Shoot().Get("DaemonSet", csiNode))
	assert.NotNil(t, h.Manager.Shoot().Get("ClusterRoleBinding", upstreamBinding))

	other := h.OtherSeed().Start()
	other.Deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(t, other.Request(t.Context(), v1beta1constants.GardenerOperationRestore))
	other.Ready()
	other.Delete()
}

func TestDelete_FromUpstream(t *testing.T) {
	d := &driver{}
	h := newHarness(t, d, fromUpstream(t, d)).Start()
	h.Deploy(v1beta1constants.GardenerOperationWaitForState, func(o *extensionsv1alpha1.ControlPlane) {
		o.Finalizers = []string{controlplane.Finalizer}
	})
	require.NoError(t, h.Destroy(t.Context()))
	require.NoError(t, h.WaitGone(t.Context()))
	assert.Equal(t, []string{"left behind: Secret shoot-access-cloud-controller-manager", "left behind: Secret shoot-access-csi-provisioner"}, h.Leftovers(),
		"the names of upstream's access are not known without a plan; they go with the namespace")
	assert.Equal(t, []contracttest.Key{{Kind: "ClusterRoleBinding", Name: upstreamBinding}}, h.Manager.Shoot().Keys(), "upstream wanted it so")
}
