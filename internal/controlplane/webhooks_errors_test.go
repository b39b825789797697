package controlplane

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/mutation"
)

func TestWebhooks_Errors(t *testing.T) {
	failing := externalCloud()
	failing.err = errors.New("the cloud profile is odd")
	for sentence, test := range map[string]struct {
		driver   Driver
		clusters []string
		webhook  string
		request  admission.Request
		code     int32
		want     string
	}{
		"there is no Cluster": {
			externalCloud(), nil, "controlplane", create(deploymentKind, kubeAPIServer), http.StatusInternalServerError,
			"tuning Deployment shoot--dev--one/kube-apiserver: there is no Cluster resource of the namespace's name, which would say what its cloud needs",
		},
		"the Cluster lacks the cloud profile": {
			externalCloud(),
			[]string{`{"metadata":{"name":"shoot--dev--one"},"spec":{"shoot":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot"}}}`},
			"cloudprovider", create(secretKind, credentialsSecret), http.StatusInternalServerError,
			`completing Secret shoot--dev--one/cloudprovider: the Cluster resource "shoot--dev--one" lacks the shoot or the cloud profile`,
		},
		"the Cluster is damaged": {
			externalCloud(),
			[]string{`{"metadata":{"name":"shoot--dev--one"},"spec":{"shoot":{"kind":"Pod"}}}`},
			"operatingsystemconfig", create(oscKind, nodeConfig), http.StatusInternalServerError,
			`tuning OperatingSystemConfig shoot--dev--one/pool: the Cluster resource is invalid: decoding spec.shoot of "shoot--dev--one": ` +
				`expected core.gardener.cloud/v1beta1, Kind=Shoot, got /, Kind=Pod`,
		},
		"the driver cannot tune": {
			failing,
			[]string{shootCluster},
			"controlplane", create(deploymentKind, kubeControllerManager), http.StatusInternalServerError,
			"tuning Deployment shoot--dev--one/kube-controller-manager: the cloud profile is odd",
		},
		"the driver cannot complete credentials": {
			failing,
			[]string{shootCluster},
			"cloudprovider", create(secretKind, credentialsSecret), http.StatusInternalServerError,
			"completing Secret shoot--dev--one/cloudprovider: the cloud profile is odd",
		},
		"the object is malformed": {
			externalCloud(),
			[]string{shootCluster},
			"operatingsystemconfig", create(oscKind, strings.Replace(nodeConfig, "ExecStart", "ExecEnd", 1)),
			http.StatusInternalServerError,
			"tuning OperatingSystemConfig shoot--dev--one/pool: spec.units[kubelet.service].content: Invalid value: expected exactly one ExecStart in the section Service",
		},
		"the object is of another shape": {
			externalCloud(), nil, "etcd", create(etcdKind, `{"spec":[]}`), http.StatusBadRequest,
			"decoding the Etcd: json: cannot unmarshal array into Go struct field Etcd.spec of type v1alpha1.EtcdSpec",
		},
		"the old object is no object": {
			externalCloud(), nil, "etcd", update(etcdKind, "", etcdMain), http.StatusBadRequest,
			"decoding the Etcd as it was: unexpected end of JSON input",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			response := callWebhook(t, test.driver, seedWith(t, new(int), test.clusters...), test.webhook, test.request)
			assert.False(t, response.Allowed)
			assert.Empty(t, patchOf(t, response))
			assert.Equal(t, test.want, response.Result.Message)
			assert.Equal(t, test.code, response.Result.Code)
		})
	}
}

func TestWebhooks_Types(t *testing.T) {
	rules := func(group, version, resource string) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
				Scope: new(admissionregistrationv1.NamespacedScope),
			},
		}}
	}
	labels := func(keyAndValue ...string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{keyAndValue[0]: keyAndValue[1]}}
	}
	marked := labels("provider.extensions.gardener.cloud/mutated-by-controlplane-webhook", "true")
	etcds := labels("gardener.cloud/role", "controlplane")
	etcds.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "role", Operator: "In", Values: []string{"main", "events"}}}
	var want []mutation.Webhook
	for _, name := range []string{"one", "two"} {
		shoot, seed := labels("shoot.gardener.cloud/provider", name), labels("seed.gardener.cloud/provider", name)
		want = append(
			want,
			mutation.Webhook{Name: "controlplane." + name, Path: "/controlplane/" + name, Rules: rules("apps", "v1", "deployments"), NamespaceSelector: shoot, ObjectSelector: marked},
			mutation.Webhook{
				Name: "operatingsystemconfig." + name, Path: "/operatingsystemconfig/" + name,
				Rules: rules("extensions.gardener.cloud", "v1alpha1", "operatingsystemconfigs"), NamespaceSelector: shoot, ObjectSelector: marked,
			},
			mutation.Webhook{
				Name: "cloudprovider." + name, Path: "/cloudprovider/" + name, Rules: rules("", "v1", "secrets"),
				NamespaceSelector: shoot, ObjectSelector: labels("gardener.cloud/purpose", "cloudprovider"),
			},
			mutation.Webhook{Name: "etcd." + name, Path: "/etcd/" + name, Rules: rules("druid.gardener.cloud", "v1alpha1", "etcds"), NamespaceSelector: seed, ObjectSelector: etcds},
		)
	}

	drivers := map[string]Driver{"one": externalCloud(), "two": externalCloud(), "three": externalCloud()}
	got, err := Webhooks(drivers, nil, WebhookOptions{Types: []string{"one", "two"}})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(want, got, cmpopts.IgnoreFields(mutation.Webhook{}, "Handler")))

	_, err = Webhooks(drivers, nil, WebhookOptions{Types: []string{"four"}})
	require.EqualError(t, err, `no control plane driver for type "four"; there are: one, three, two`)
}
