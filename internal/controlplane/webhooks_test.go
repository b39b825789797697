package controlplane

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/mutation"
)

// tuningDriver tunes, and is good for nothing else.
type tuningDriver struct {
	Driver
	tuning tuning.Tuning
	err    error
	seen   *TuneRequest
}

func (d tuningDriver) Tune(request *TuneRequest) (*tuning.Tuning, error) {
	if d.seen != nil {
		*d.seen = *request
	}
	return &d.tuning, d.err
}

func (d tuningDriver) CompleteCredentials(secret *corev1.Secret, cluster *contract.Cluster) error {
	secret.Data["region"] = []byte(cluster.Shoot.Spec.Region)
	return d.err
}

func externalCloud() tuningDriver {
	return tuningDriver{tuning: tuning.Tuning{
		KubeAPIServer:         tuning.Pod{DropFlags: []string{"--cloud-provider"}},
		KubeControllerManager: tuning.Pod{SetFlags: map[string]string{"--cloud-provider": "external"}, DropVolumes: []string{"etc-ssl"}},
		KubeScheduler:         tuning.Pod{SetFlags: map[string]string{"--scheduler": "yes"}},
		ClusterAutoscaler:     tuning.Pod{SetFlags: map[string]string{"--autoscaler": "yes"}},
		Kubelet:               tuning.Kubelet{SetFlags: map[string]string{"--cloud-provider": "external"}},
		Files:                 []extensionsv1alpha1.File{{Path: "/opt/new"}},
	}}
}

const shootCluster = `{"metadata":{"name":"shoot--dev--one"},"spec":{
  "shoot":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot","spec":{"region":"eu"}},
  "cloudProfile":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"CloudProfile"}}}`

// seedWith returns a seed with Cluster resources, and counts the reads.
func seedWith(t *testing.T, reads *int, clusters ...string) client.Reader {
	t.Helper()
	return seedOf(t, reads, clusters)
}

// seedOf returns a seed with Cluster resources and other objects, and counts the reads.
func seedOf(t *testing.T, reads *int, clusters []string, objects ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, extensionsv1alpha1.AddToScheme(scheme))
	builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			*reads++
			return inner.Get(ctx, key, object, options...)
		},
	})
	for _, text := range clusters {
		cluster := &extensionsv1alpha1.Cluster{}
		require.NoError(t, json.Unmarshal([]byte(text), cluster))
		builder.WithObjects(cluster)
	}
	return builder.WithObjects(objects...).Build()
}

// callWebhook calls the webhook with a name.
func callWebhook(t *testing.T, driver Driver, seed client.Reader, name string, request admission.Request) admission.Response {
	t.Helper()
	return callWebhookWith(t, driver, seed, images.Vector{}, name, request)
}

func callWebhookWith(
	t *testing.T, driver Driver, seed client.Reader, vector images.Vector, name string, request admission.Request,
) admission.Response {
	t.Helper()
	webhooks, err := Webhooks(map[string]Driver{"test": driver}, seed, WebhookOptions{
		Types:       []string{"test"},
		Images:      Images{"test": vector},
		EtcdStorage: tuning.EtcdStorage{Main: tuning.EtcdVolume{ClassName: new("fast")}},
	})
	require.NoError(t, err)
	for _, webhook := range webhooks {
		if webhook.Name == name+".test" {
			return webhook.Handler.Handle(t.Context(), request)
		}
	}
	require.Fail(t, "there is no such webhook", name)
	return admission.Response{}
}

// patchOf returns the patch as an API server reads it.
func patchOf(t *testing.T, response admission.Response) []mutation.Operation {
	t.Helper()
	require.NoError(t, response.Complete(admission.Request{}))
	if response.Patch == nil {
		return nil
	}
	assert.Equal(t, admissionv1.PatchTypeJSONPatch, *response.PatchType)
	var operations []mutation.Operation
	require.NoError(t, json.Unmarshal(response.Patch, &operations))
	return operations
}

// create returns a request to create an object. Its kind is written as group/version/kind.
func create(kind, object string) admission.Request {
	parts := strings.Split(kind, "/")
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create,
		Kind:      metav1.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]},
		Object:    runtime.RawExtension{Raw: []byte(object)},
	}}
}

func update(kind, old, object string) admission.Request {
	request := create(kind, object)
	request.Operation, request.OldObject.Raw = admissionv1.Update, []byte(old)
	return request
}

const (
	deploymentKind = "apps/v1/Deployment"
	oscKind        = "extensions.gardener.cloud/v1alpha1/OperatingSystemConfig"
	secretKind     = "/v1/Secret"
	etcdKind       = "druid.gardener.cloud/v1alpha1/Etcd"

	// Fields that this program has never heard of stand where lists and objects change.
	kubeControllerManager = `{"metadata":{"namespace":"shoot--dev--one","name":"kube-controller-manager"},"spec":{"template":{"spec":{
		"containers":[{"name":"beside"},{"name":"kube-controller-manager","command":["/kcm","--v=2"],"unheardOf":1,
			"volumeMounts":[{"name":"ca","mountPath":"/a","unheardOf":1}]}],
		"volumes":[{"name":"ca","unheardOf":1}]}}}}`
	kubeAPIServer = `{"metadata":{"namespace":"shoot--dev--one","name":"kube-apiserver"},"spec":{"template":{"spec":{
		"containers":[{"name":"kube-apiserver","command":["/kas"],"args":["--a=1","--cloud-provider=aws","--b=1"]}]}}}}`
	nodeConfig = `{"metadata":{"namespace":"shoot--dev--one","name":"pool"},"spec":{"purpose":"reconcile","type":"os","units":[
		{"name":"kubelet.service","content":"[Service]\nExecStart=/kubelet","unheardOf":1}],"files":[{"path":"/opt/old","content":{},"unheardOf":1}]}}`
	credentialsSecret = `{"metadata":{"namespace":"shoot--dev--one","name":"cloudprovider"},"data":{"username":"bWU="}}`
	etcdMain          = `{"metadata":{"namespace":"shoot--dev--one","name":"etcd-main"},"spec":{"replicas":1,"unheardOf":1}}`
	etcdWithClass     = `{"metadata":{"namespace":"shoot--dev--one","name":"etcd-main"},"spec":{"replicas":1,"storageClass":""}}`
)

func TestWebhooks_Patches(t *testing.T) {
	for sentence, test := range map[string]struct {
		webhook string
		request admission.Request
		want    []mutation.Operation
		reads   int
	}{
		"a kube-controller-manager gets a flag": {
			"controlplane", create(deploymentKind, kubeControllerManager),
			[]mutation.Operation{{Op: "add", Path: "/spec/template/spec/containers/1/command/2", Value: "--cloud-provider=external"}},
			1,
		},
		"and just the same when it is updated": {
			"controlplane", update(deploymentKind, `{}`, kubeControllerManager),
			[]mutation.Operation{{Op: "add", Path: "/spec/template/spec/containers/1/command/2", Value: "--cloud-provider=external"}},
			1,
		},
		"a kube-apiserver loses one": {
			"controlplane", create(deploymentKind, kubeAPIServer),
			[]mutation.Operation{{Op: "remove", Path: "/spec/template/spec/containers/0/args/1"}},
			1,
		},
		"a kube-scheduler gets its own": {
			"controlplane", create(deploymentKind, strings.ReplaceAll(kubeAPIServer, "kube-apiserver", "kube-scheduler")),
			[]mutation.Operation{{Op: "add", Path: "/spec/template/spec/containers/0/args/3", Value: "--scheduler=yes"}},
			1,
		},
		"and so does a cluster-autoscaler": {
			"controlplane", create(deploymentKind, strings.ReplaceAll(kubeAPIServer, "kube-apiserver", "cluster-autoscaler")),
			[]mutation.Operation{{Op: "add", Path: "/spec/template/spec/containers/0/args/3", Value: "--autoscaler=yes"}},
			1,
		},
		"what is tuned already is not changed": {
			"controlplane", create(deploymentKind, strings.Replace(kubeControllerManager, `"--v=2"`, `"--cloud-provider=external"`, 1)), nil, 1,
		},
		"nodes get a flag and a file": {
			"operatingsystemconfig", create(oscKind, nodeConfig),
			[]mutation.Operation{
				{Op: "add", Path: "/spec/files/1", Value: map[string]any{"path": "/opt/new", "content": map[string]any{}}},
				{
					Op: "replace", Path: "/spec/units/0/content",
					Value: "[Service]\nExecStart=/kubelet \\\n    --cloud-provider=external",
				},
			},
			2,
		},
		"credentials are completed": {
			"cloudprovider", create(secretKind, credentialsSecret),
			[]mutation.Operation{{Op: "add", Path: "/data/region", Value: "ZXU="}},
			1,
		},
		"credentials without data as well": {
			"cloudprovider", create(secretKind, strings.Replace(credentialsSecret, `"data"`, `"other"`, 1)),
			[]mutation.Operation{{Op: "add", Path: "/data", Value: map[string]any{"region": "ZXU="}}},
			1,
		},
		"an etcd is born with a class": {
			"etcd", create(etcdKind, etcdMain), []mutation.Operation{{Op: "add", Path: "/spec/storageClass", Value: "fast"}}, 0,
		},
		"an etcd keeps the class that it was born with": {
			"etcd", update(etcdKind, etcdWithClass, etcdMain), []mutation.Operation{{Op: "add", Path: "/spec/storageClass", Value: ""}}, 0,
		},
		"an etcd that was born without stays without": {
			"etcd", update(etcdKind, etcdMain, etcdMain), nil, 0,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			reads := 0
			response := callWebhook(t, externalCloud(), seedWith(t, &reads, shootCluster), test.webhook, test.request)
			require.True(t, response.Allowed, "%+v", response.Result)
			assert.Empty(t, cmp.Diff(test.want, patchOf(t, response)))
			assert.Equal(t, test.reads, reads, "of the Cluster, which is large, and for nodes of the ControlPlane")
		})
	}
}

func TestWebhooks_IgnoredRequests(t *testing.T) {
	deleting := func(object string) string {
		return strings.Replace(object, `"metadata":{`, `"metadata":{"deletionTimestamp":"2026-11-20T12:00:00Z",`, 1)
	}
	scale := update(deploymentKind, kubeControllerManager, kubeControllerManager)
	scale.SubResource = "scale"
	gone := create(secretKind, "")
	gone.Operation, gone.OldObject.Raw = admissionv1.Delete, []byte(credentialsSecret)
	for sentence, test := range map[string]struct {
		webhook string
		request admission.Request
	}{
		"a Deployment of another name":                   {"controlplane", create(deploymentKind, strings.ReplaceAll(kubeAPIServer, "kube-apiserver", "machine-controller-manager"))},
		"a Deployment that is being deleted":             {"controlplane", update(deploymentKind, deleting(kubeAPIServer), deleting(kubeAPIServer))},
		"one by an update that does not say so":          {"controlplane", update(deploymentKind, deleting(kubeAPIServer), kubeAPIServer)},
		"a Secret of another name":                       {"cloudprovider", create(secretKind, strings.ReplaceAll(credentialsSecret, "cloudprovider", "other"))},
		"a Secret that is being deleted":                 {"cloudprovider", update(secretKind, deleting(credentialsSecret), deleting(credentialsSecret))},
		"what provisions machines":                       {"operatingsystemconfig", create(oscKind, strings.Replace(nodeConfig, "reconcile", "provision", 1))},
		"an OperatingSystemConfig that is being deleted": {"operatingsystemconfig", update(oscKind, deleting(nodeConfig), deleting(nodeConfig))},
		"an Etcd of another name":                        {"etcd", create(etcdKind, strings.Replace(etcdMain, "etcd-main", "etcd-other", 1))},
		"an Etcd that is being deleted":                  {"etcd", update(etcdKind, deleting(etcdWithClass), deleting(etcdMain))},
		"another kind":                                   {"controlplane", create("apps/v1/StatefulSet", kubeAPIServer)},
		"another version":                                {"controlplane", create("apps/v2/Deployment", kubeAPIServer)},
		"a subresource":                                  {"controlplane", scale},
		"a deletion":                                     {"cloudprovider", gone},
	} {
		t.Run(sentence, func(t *testing.T) {
			reads := 0
			response := callWebhook(t, externalCloud(), seedWith(t, &reads, shootCluster), test.webhook, test.request)
			assert.True(t, response.Allowed)
			assert.Empty(t, patchOf(t, response))
			assert.Zero(t, reads)
		})
	}
}

func TestWebhooks_TuneRequest(t *testing.T) {
	const cluster = `{"metadata":{"name":"shoot--dev--one"},"spec":{
	  "shoot":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot","metadata":{"name":"one"},"spec":{"region":"eu","kubernetes":{"version":"1.36.1"}}},
	  "cloudProfile":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"CloudProfile"}}}`
	status := &runtime.RawExtension{Raw: []byte(`{"identity":"id-1"}`)}
	controlPlane := &extensionsv1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "one"},
		Spec:       extensionsv1alpha1.ControlPlaneSpec{InfrastructureProviderStatus: status},
	}
	vector, err := images.Read([]byte(`images:
- {name: plugin, repository: registry.example.org/plugin, tag: v1.36.0, targetVersion: 1.36.x}
- {name: plugin, repository: registry.example.org/plugin, tag: v1.35.0, targetVersion: 1.35.x}`))
	require.NoError(t, err)
	for sentence, test := range map[string]struct {
		webhook string
		request admission.Request
		objects []client.Object
		want    TuneRequest
	}{
		"nodes depend on the Infrastructure": {
			"operatingsystemconfig", create(oscKind, nodeConfig),
			[]client.Object{controlPlane},
			TuneRequest{Scope: tuning.Nodes, InfrastructureStatus: status},
		},
		"there is no ControlPlane": {"operatingsystemconfig", create(oscKind, nodeConfig), nil, TuneRequest{Scope: tuning.Nodes}},
		"a kube-apiserver does not depend on the Infrastructure": {
			"controlplane", create(deploymentKind, kubeAPIServer), []client.Object{controlPlane}, TuneRequest{Scope: tuning.ControlPlane},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			driver := externalCloud()
			driver.seen = &TuneRequest{}
			response := callWebhookWith(t, driver, seedOf(t, new(int), []string{cluster}, test.objects...), vector, test.webhook, test.request)
			require.True(t, response.Allowed, "%+v", response.Result)
			assert.Equal(t, "eu", driver.seen.Cluster.Shoot.Spec.Region)
			assert.Equal(t, test.want.Scope == tuning.Nodes, driver.seen.Cluster.CloudProfile != nil)
			image, err := driver.seen.Image("plugin")
			require.NoError(t, err)
			assert.Equal(t, "registry.example.org/plugin:v1.36.0", image)
			assert.Empty(t, cmp.Diff(test.want, *driver.seen, cmpopts.IgnoreFields(TuneRequest{}, "Cluster", "Image")))
		})
	}
}

// A cloud profile that is damaged must not keep the kube-apiserver from being written.
func TestWebhooks_ControlPlaneNeedsNoCloudProfile(t *testing.T) {
	for sentence, profile := range map[string]string{
		"damaged": `{"kind":"Pod"}`, "of another form": `[]`, "missing": `null`,
	} {
		t.Run(sentence, func(t *testing.T) {
			cluster := `{"metadata":{"name":"shoot--dev--one"},"spec":{"shoot":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot"},"cloudProfile":` + profile + `}}`
			for _, deployment := range []string{kubeAPIServer, kubeControllerManager} {
				reads := 0
				response := callWebhook(t, externalCloud(), seedWith(t, &reads, cluster), "controlplane", create(deploymentKind, deployment))
				assert.True(t, response.Allowed, "%+v", response.Result)
			}
			reads := 0
			response := callWebhook(t, externalCloud(), seedWith(t, &reads, cluster), "operatingsystemconfig", create(oscKind, nodeConfig))
			assert.False(t, response.Allowed, "nodes get what the profile says")
		})
	}
}
