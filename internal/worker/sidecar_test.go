package worker

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// newManagerDeployment is machine-controller-manager's Deployment as gardenlet deploys it, as far as the webhook reads it.
func newManagerDeployment(target string, mounts ...corev1.VolumeMount) *appsv1.Deployment {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "machine-controller-manager"}}
	deployment.Spec.Replicas = new(int32(1))
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{
		Name:         "machine-controller-manager",
		Command:      []string{"./machine-controller-manager", "--target-kubeconfig=" + target, "--v=3"},
		VolumeMounts: mounts,
	}}
	return deployment
}

func exampleSidecar(memoryLimit resource.Quantity) sidecar {
	return sidecar{providerType: "example", image: "example.org/example:v1", memoryLimit: memoryLimit}
}

func TestSidecar_AddTo_TargetCluster(t *testing.T) {
	kubeconfig := corev1.VolumeMount{Name: "kubeconfig", MountPath: "/var/run/kubeconfig", ReadOnly: true}
	other := corev1.VolumeMount{Name: "other", MountPath: "/other"}
	for sentence, test := range map[string]struct {
		target string
		mounts []corev1.VolumeMount
		want   []corev1.VolumeMount
	}{
		"shoot in a seed":                {"/var/run/kubeconfig/kubeconfig", []corev1.VolumeMount{other, kubeconfig}, []corev1.VolumeMount{kubeconfig}},
		"self-hosted shoot":              {"", nil, nil},
		"shoot that becomes self-hosted": {"none", []corev1.VolumeMount{other}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			deployment := newManagerDeployment(test.target, test.mounts...)
			before := deployment.DeepCopy()
			require.NoError(t, exampleSidecar(resource.Quantity{}).addTo(deployment))
			containers := deployment.Spec.Template.Spec.Containers
			require.Len(t, containers, 2)
			assert.Equal(t, "machine-controller-manager-provider-example", containers[1].Name)
			assert.Equal(t, "example.org/example:v1", containers[1].Image)
			assert.Contains(t, containers[1].Args, "--target-kubeconfig="+test.target)
			assert.Contains(t, containers[1].Args, "--namespace=shoot--dev--one")
			assert.Equal(t, test.want, containers[1].VolumeMounts)

			deployment.Spec.Template.Spec.Containers = containers[:1]
			assert.Equal(t, before, deployment, "nothing else is changed")
		})
	}
}

func TestSidecar_AddTo_Update(t *testing.T) {
	deployment := newManagerDeployment("/kubeconfig")
	other := corev1.Container{Name: "foreign", Image: "example.org/foreign"}
	old := corev1.Container{
		Name: "machine-controller-manager-provider-example", Image: "example.org/example:v0", Args: []string{"--old"},
		Env:                    []corev1.EnvVar{{Name: "OLD"}},
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
	pod := &deployment.Spec.Template.Spec
	pod.Containers = append([]corev1.Container{old, other}, pod.Containers...)
	require.NoError(t, exampleSidecar(resource.Quantity{}).addTo(deployment))
	require.Len(t, pod.Containers, 3)
	updated := pod.Containers[0]
	assert.Equal(t, "example.org/example:v1", updated.Image)
	assert.NotContains(t, updated.Args, "--old")
	assert.Empty(t, updated.Env)
	assert.Equal(t, "/dev/termination-log", updated.TerminationMessagePath)
	assert.Equal(t, other, pod.Containers[1])

	again := deployment.DeepCopy()
	require.NoError(t, exampleSidecar(resource.Quantity{}).addTo(again))
	assert.Equal(t, deployment, again, "the second call changes nothing")
}

func TestSidecar_AddTo_MemoryLimit(t *testing.T) {
	for sentence, test := range map[string]struct {
		limit  resource.Quantity
		limits corev1.ResourceList
		env    []corev1.EnvVar
	}{
		"no limit": {},
		"a limit": {
			limit:  resource.MustParse("1Gi"),
			limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			env:    []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: "966367641"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			deployment := newManagerDeployment("x")
			// An earlier limit is removed.
			require.NoError(t, exampleSidecar(resource.MustParse("2Gi")).addTo(deployment))
			require.NoError(t, exampleSidecar(test.limit).addTo(deployment))
			sidecar := deployment.Spec.Template.Spec.Containers[1]
			assert.Equal(t, test.limits, sidecar.Resources.Limits)
			assert.Equal(t, test.env, sidecar.Env)
			assert.Equal(t, "20Mi", sidecar.Resources.Requests.Memory().String(), "requests are kept for the VerticalPodAutoscaler")
		})
	}
}

func TestSidecar_AddTo_WorkloadIdentity(t *testing.T) {
	const name, path = "workload-identity", "/var/run/secrets/gardener.cloud/workload-identity"
	other := corev1.Volume{Name: "other"}
	added := exampleSidecar(resource.Quantity{})
	added.workloadIdentity = true
	want := corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(0o644)),
		Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "cloudprovider"},
			Items:                []corev1.KeyToPath{{Key: "token", Path: "token"}},
			Optional:             new(true),
		}}},
	}}}
	// Another extension's volume is one that a Secret without a token would keep from being mounted.
	others := *want.DeepCopy()
	others.Projected.Sources[0].Secret.Optional = nil
	for sentence, test := range map[string]struct{ volumes, want []corev1.Volume }{
		"no volume":                    {nil, []corev1.Volume{want}},
		"another volume":               {[]corev1.Volume{other}, []corev1.Volume{other, want}},
		"the volume of another writer": {[]corev1.Volume{others, other}, []corev1.Volume{want, other}},
	} {
		t.Run(sentence, func(t *testing.T) {
			kubeconfig := corev1.VolumeMount{Name: "kubeconfig", MountPath: "/var/run/kubeconfig", ReadOnly: true}
			deployment := newManagerDeployment("x", kubeconfig)
			deployment.Spec.Template.Spec.Volumes = test.volumes
			require.NoError(t, added.addTo(deployment))
			pod := deployment.Spec.Template.Spec
			assert.Equal(t, test.want, pod.Volumes)
			assert.Equal(t, []corev1.VolumeMount{kubeconfig, {Name: name, MountPath: path, ReadOnly: true}}, pod.Containers[1].VolumeMounts)
			assert.Equal(t, []corev1.VolumeMount{kubeconfig}, pod.Containers[0].VolumeMounts, "only the machine controller speaks to the cloud")

			again := deployment.DeepCopy()
			require.NoError(t, added.addTo(again))
			assert.Equal(t, deployment, again, "the second call changes nothing")
		})
	}
}

// Only the types with workload identities get the volume.
func TestWebhooks_WorkloadIdentities(t *testing.T) {
	deployment, err := json.Marshal(newManagerDeployment("x"))
	require.NoError(t, err)
	webhooks, err := Webhooks([]string{"example", "other"}, WebhookOptions{Image: exampleImage, WorkloadIdentities: []string{"other"}})
	require.NoError(t, err)
	mounted := map[string]bool{}
	for _, webhook := range webhooks {
		if !strings.HasPrefix(webhook.Name, webhookManager+".") {
			continue
		}
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		}}
		request.Object.Raw = deployment
		response := webhook.Handler.Handle(t.Context(), request)
		require.True(t, response.Allowed, "%+v", response.Result)
		mounted[webhook.Name] = strings.Contains(string(response.Patch), identityFolder)
	}
	assert.Equal(t, map[string]bool{"machinecontrollermanager.example": false, "machinecontrollermanager.other": true}, mounted)
}

func TestSidecar_AddTo_InvalidDeployment(t *testing.T) {
	deployment := newManagerDeployment("x")
	deployment.Spec.Template.Spec.Containers[0].Command = []string{"./machine-controller-manager"}
	require.EqualError(t, exampleSidecar(resource.Quantity{}).addTo(deployment), `container "machine-controller-manager" has no flag --target-kubeconfig`)
	deployment.Spec.Template.Spec.Containers = nil
	require.EqualError(t, exampleSidecar(resource.Quantity{}).addTo(deployment), `there is no container "machine-controller-manager"`)
}

func exampleImage(string) (string, error) { return "example.org/example:v1", nil }

// callWebhook calls a webhook for an object that is created.
func callWebhook(t *testing.T, name string, kind metav1.GroupVersionKind, object any) admission.Response {
	t.Helper()
	webhooks, err := Webhooks([]string{"example"}, WebhookOptions{Image: exampleImage})
	require.NoError(t, err)
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Kind: kind}}
	request.Object.Raw = raw
	for _, webhook := range webhooks {
		if webhook.Name == name {
			return webhook.Handler.Handle(t.Context(), request)
		}
	}
	require.Fail(t, "webhook not found", name)
	return admission.Response{}
}

func TestWebhooks_Mutate(t *testing.T) {
	deploymentKind := metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	vpaKind := metav1.GroupVersionKind{Group: "autoscaling.k8s.io", Version: "v1", Kind: "VerticalPodAutoscaler"}
	const policy = `{"containerName":"machine-controller-manager-provider-example","controlledValues":"RequestsOnly"}`
	vpa := func(name string, policies ...vpaautoscalingv1.ContainerResourcePolicy) *vpaautoscalingv1.VerticalPodAutoscaler {
		object := &vpaautoscalingv1.VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if policies != nil {
			object.Spec.ResourcePolicy = &vpaautoscalingv1.PodResourcePolicy{ContainerPolicies: policies}
		}
		return object
	}
	const nameVPA = "machine-controller-manager-vpa"
	others := vpaautoscalingv1.ContainerResourcePolicy{ContainerName: "*", Mode: new(vpaautoscalingv1.ContainerScalingModeOff)}
	ours := vpaautoscalingv1.ContainerResourcePolicy{
		ContainerName: "machine-controller-manager-provider-example", Mode: new(vpaautoscalingv1.ContainerScalingModeOff),
	}
	otherDeployment := newManagerDeployment("x")
	otherDeployment.Name = "another"

	response := callWebhook(t, "machinecontrollermanager.example", deploymentKind, newManagerDeployment("x"))
	require.True(t, response.Allowed, "%+v", response.Result)
	var operations []struct{ Op, Path string }
	require.NoError(t, json.Unmarshal(response.Patch, &operations))
	assert.Equal(t, []struct{ Op, Path string }{{"add", "/spec/template/spec/containers/1"}}, operations)

	assert.Empty(t, callWebhook(t, "machinecontrollermanager.example", deploymentKind, otherDeployment).Patch)
	broken := newManagerDeployment("x")
	broken.Spec.Template.Spec.Containers = nil
	refused := callWebhook(t, "machinecontrollermanager.example", deploymentKind, broken)
	assert.False(t, refused.Allowed)
	assert.True(t, strings.HasPrefix(refused.Result.Message, "completing Deployment shoot--dev--one/machine-controller-manager: there is no"))

	for sentence, test := range map[string]struct {
		vpa  *vpaautoscalingv1.VerticalPodAutoscaler
		want string
	}{
		"other policies": {vpa(nameVPA, others), `[{"op":"add","path":"/spec/resourcePolicy/containerPolicies/1","value":` + policy + `}]`},
		"no policies":    {vpa(nameVPA), `[{"op":"add","path":"/spec/resourcePolicy","value":{"containerPolicies":[` + policy + `]}}]`},
		"outdated policy": {
			vpa(nameVPA, ours, others),
			`[{"op":"remove","path":"/spec/resourcePolicy/containerPolicies/0","value":null},
			  {"op":"add","path":"/spec/resourcePolicy/containerPolicies/0","value":` + policy + `}]`,
		},
		"other name": {vpa("another", others), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := callWebhook(t, "machinecontrollermanagervpa.example", vpaKind, test.vpa)
			require.True(t, got.Allowed)
			if test.want == "" {
				assert.Empty(t, got.Patch)
				return
			}
			assert.JSONEq(t, test.want, string(got.Patch))
		})
	}
}

func TestWebhooks_PerType(t *testing.T) {
	webhooks, err := Webhooks([]string{"example", "other"}, WebhookOptions{Image: exampleImage})
	require.NoError(t, err)
	var names []string
	for _, webhook := range webhooks {
		names = append(names, webhook.Name)
		assert.Equal(t, "true", webhook.ObjectSelector.MatchLabels["provider.extensions.gardener.cloud/mutated-by-controlplane-webhook"])
		assert.Contains(t, webhook.Name, "."+webhook.NamespaceSelector.MatchLabels["shoot.gardener.cloud/provider"])
		assert.Len(t, webhook.Rules, 1)
	}
	assert.Equal(t, WebhookNames([]string{"example", "other"}), names)

	_, err = Webhooks([]string{"example"}, WebhookOptions{Image: func(name string) (string, error) { return "", errors.New("no image " + name) }})
	assert.EqualError(t, err, `finding the machine controller for type "example": no image machine-controller-manager-provider-example`)
}
