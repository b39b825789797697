package charts

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ofShoot is the namespace of a shoot, as gardenlet creates it.
const ofShoot = "shoot--local--secrets"

// testSecretGuard writes Secrets with the controllers' accounts, which have their charts' rights.
func testSecretGuard(t *testing.T, env *environment) {
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: ofShoot, Labels: map[string]string{v1beta1constants.GardenRole: v1beta1constants.GardenRoleShoot},
	}}))
	for _, chart := range []string{"controlplane-controller", "network-controller", "worker-controller"} {
		t.Run(chart, func(t *testing.T) {
			g := guarded{environment: env, chart: chart}
			for _, object := range render(t, chart, map[string]any{"secretGuard": map[string]any{"namespaces": []string{"heartbeats"}}}) {
				switch object.GetKind() {
				case "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
				default:
					if !strings.HasPrefix(object.GetName(), "secrets.") {
						continue
					}
				}
				require.NoError(t, env.Client.Create(t.Context(), object))
				t.Cleanup(func() { assert.NoError(t, env.Client.Delete(context.WithoutCancel(t.Context()), object)) }) // other parts make the same
			}
			g.waitForSecretGuard(t)
			g.assertSecretsOfShootsAreWritten(t)
			g.assertSecretsElsewhereAreRefused(t)
			g.assertTokensAreRefused(t)
			g.assertOthersWriteSecrets(t)
			g.assertNoWarnings(t, "secrets."+release(chart).Name+".trellis.extensions.gardener.cloud")
		})
	}
}

func (g guarded) account() string {
	return fmt.Sprintf("system:serviceaccount:%s:gardener-extension-%s", release(g.chart).Namespace, release(g.chart).Name)
}

// controller is a client with the rights of the controller.
func (g guarded) controller(t *testing.T) client.Client {
	t.Helper()
	return g.as(t, g.account(), "system:serviceaccounts")
}

func (g guarded) secret(namespace, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: g.chart + "-" + name, Namespace: namespace}}
}

// waitForSecretGuard waits until the policy and the rights take effect.
func (g guarded) waitForSecretGuard(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(timeout); ; time.Sleep(interval) {
		err := g.controller(t).Create(t.Context(), g.secret("garden", "probe"), client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), "may write Secrets only in") {
			return
		}
		require.True(t, time.Now().Before(end), "the policy is not heeded: %v", err)
	}
}

// assertSecretsOfShootsAreWritten writes all kinds of Secrets that controllers write: ManagedResources' data and access to shoots in the namespaces of
// shoots, webhooks' certificates in their own.
func (g guarded) assertSecretsOfShootsAreWritten(t *testing.T) {
	t.Helper()
	c := g.controller(t)
	for _, namespace := range []string{ofShoot, release(g.chart).Namespace, "heartbeats"} {
		secret := g.secret(namespace, "own")
		secret.Labels = map[string]string{
			resourcesv1alpha1.ResourceManagerPurpose: resourcesv1alpha1.LabelPurposeTokenRequest, resourcesv1alpha1.ResourceManagerClass: "shoot",
		}
		require.NoError(t, c.Create(t.Context(), secret), namespace)
		if g.chart != "network-controller" { // it patches none, and has no right to
			before := secret.DeepCopy()
			secret.Data = map[string][]byte{"key": []byte("value")}
			require.NoError(t, c.Patch(t.Context(), secret, client.MergeFrom(before)), namespace)
		}
		require.NoError(t, c.Delete(t.Context(), secret), namespace)
	}
}

func (g guarded) assertSecretsElsewhereAreRefused(t *testing.T) {
	t.Helper()
	c := g.controller(t)
	for _, namespace := range []string{"garden", "kube-system", "shoot--local--guarded"} { // the latter lacks the label
		existing := g.secret(namespace, "theirs")
		require.NoError(t, g.Client.Create(t.Context(), existing))
		err := c.Create(t.Context(), g.secret(namespace, "ours"))
		require.True(t, apierrors.IsForbidden(err), "%s: %v", namespace, err)
		assert.ErrorContains(t, err, g.account()+" may write Secrets only in its own namespace and in namespaces of shoots")
		err = c.Delete(t.Context(), existing.DeepCopy())
		require.True(t, apierrors.IsForbidden(err), "%s: %v", namespace, err)
		if g.chart != "network-controller" {
			changed := existing.DeepCopy()
			changed.Data = map[string][]byte{"key": []byte("value")}
			err = c.Patch(t.Context(), changed, client.MergeFrom(existing))
			require.True(t, apierrors.IsForbidden(err), "%s: %v", namespace, err)
		}
	}
}

// assertTokensAreRefused asserts that Secrets of the type for ServiceAccount tokens are refused in all namespaces.
func (g guarded) assertTokensAreRefused(t *testing.T) {
	t.Helper()
	for _, namespace := range []string{ofShoot, release(g.chart).Namespace} {
		token := g.secret(namespace, "token")
		token.Type, token.Annotations = corev1.SecretTypeServiceAccountToken, map[string]string{corev1.ServiceAccountNameKey: "default"}
		bootstrap := g.secret(namespace, "bootstrap")
		bootstrap.Type = corev1.SecretTypeBootstrapToken
		ofGarden := g.secret(namespace, "garden")
		ofGarden.Labels = map[string]string{resourcesv1alpha1.ResourceManagerClass: resourcesv1alpha1.ResourceManagerClassGarden}
		for _, secret := range []*corev1.Secret{token, bootstrap, ofGarden} {
			err := g.controller(t).Create(t.Context(), secret)
			require.True(t, apierrors.IsForbidden(err), "%s: %v", secret.Name, err)
			assert.ErrorContains(t, err, g.account()+" may write no Secrets")
		}
		if g.chart == "network-controller" {
			continue
		}
		existing := g.secret(namespace, "existing")
		existing.Type, existing.Annotations = token.Type, token.Annotations
		require.NoError(t, g.Client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: g.chart, Namespace: namespace}}))
		existing.Annotations = map[string]string{corev1.ServiceAccountNameKey: g.chart}
		require.NoError(t, g.Client.Create(t.Context(), existing))
		changed := existing.DeepCopy()
		changed.Data = map[string][]byte{"key": []byte("value")}
		err := g.controller(t).Patch(t.Context(), changed, client.MergeFrom(existing))
		require.True(t, apierrors.IsForbidden(err), "%v", err)
	}
}

// assertOthersWriteSecrets asserts that the policy concerns no other users.
func (g guarded) assertOthersWriteSecrets(t *testing.T) {
	t.Helper()
	token := g.secret("garden", "token-of-another")
	token.Type, token.Annotations = corev1.SecretTypeServiceAccountToken, map[string]string{corev1.ServiceAccountNameKey: "default"}
	require.NoError(t, g.as(t, "admin", "system:masters").Create(t.Context(), token, client.DryRunAll))
}

// assertNoWarnings asserts that the API server has no warnings about the expressions of a policy.
func (g guarded) assertNoWarnings(t *testing.T, name string) {
	t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	for end := time.Now().Add(timeout); ; time.Sleep(interval) {
		require.NoError(t, g.Client.Get(t.Context(), client.ObjectKey{Name: name}, policy))
		if policy.Status.TypeChecking != nil {
			break
		}
		require.True(t, time.Now().Before(end), "nobody has checked the policy")
	}
	assert.Empty(t, policy.Status.TypeChecking.ExpressionWarnings)
}
