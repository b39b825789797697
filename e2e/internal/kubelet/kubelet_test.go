package kubelet

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestExpand(t *testing.T) {
	variables := map[string]string{"A": "one", "B": "$(A)"}
	for description, test := range map[string]struct{ text, want string }{
		"no reference":                {"--flag=x", "--flag=x"},
		"references beside texts":     {"$(A)-$(A)", "one-one"},
		"an unknown name stays":       {"$(C)$(A)", "$(C)one"},
		"values are not expanded":     {"$(B)", "$(A)"},
		"two dollar signs escape":     {"$$(A)", "$(A)"},
		"an escape before another":    {"$$$(A)", "$one"},
		"a shell's variable":          {"$A ${A}", "$A ${A}"},
		"a reference that never ends": {"$(A", "$(A"},
		"a dollar sign at the end":    {"cost: 5$", "cost: 5$"},
	} {
		t.Run(description, func(t *testing.T) { assert.Equal(t, test.want, Expand(test.text, variables)) })
	}
}

func object(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "ns"} }

// newPod returns a pod beside a Secret and a ConfigMap.
func newPod() *Pod {
	reader := fake.NewClientBuilder().WithObjects(
		&corev1.Secret{ObjectMeta: object("secret"), Data: map[string][]byte{"user": []byte("joe"), "password": []byte("secret")}},
		&corev1.ConfigMap{ObjectMeta: object("config"), Data: map[string]string{"level": "info"}, BinaryData: map[string][]byte{"binary": {0xff}}},
	).Build()
	pod := &corev1.Pod{ObjectMeta: object("pod"), Spec: corev1.PodSpec{NodeName: "node", ServiceAccountName: "account"}}
	pod.UID, pod.Labels, pod.Annotations = "1234", map[string]string{"app": "a", "role": "b"}, map[string]string{"example.org/key": "value"}
	pod.Status.HostIP, pod.Status.PodIP = "10.0.0.1", "10.0.0.9"
	pod.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.9"}, {IP: "fd00::9"}}
	return &Pod{
		Pod: pod, Reader: reader, Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")},
		Token: func(_ context.Context, t *corev1.ServiceAccountTokenProjection) ([]byte, error) {
			return []byte("token for " + t.Audience), nil
		},
	}
}

func secretKey(name, key string, optional bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named(name), Key: key, Optional: &optional}}
}

func configMapKey(name, key string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named(name), Key: key}}
}

func fieldOf(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func resourceOf(name, divisor string) *corev1.EnvVarSource {
	selector := &corev1.ResourceFieldSelector{Resource: name}
	if divisor != "" {
		selector.Divisor = resource.MustParse(divisor)
	}
	return &corev1.EnvVarSource{ResourceFieldRef: selector}
}

func named(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

func TestEnvironment(t *testing.T) {
	container := &corev1.Container{
		Name: "main",
		EnvFrom: []corev1.EnvFromSource{
			{Prefix: "S_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("secret")}},
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named("none"), Optional: new(true)}},
		},
		Env: []corev1.EnvVar{
			{Name: "NAME", ValueFrom: fieldOf("metadata.name")},
			{Name: "GREETING", Value: "hello $(NAME), $(S_user) and $(LATER)"},
			{Name: "LATER", Value: "x"},
			{Name: "PASSWORD", ValueFrom: secretKey("secret", "password", false)},
			{Name: "MISSING", ValueFrom: secretKey("secret", "none", true)},
			{Name: "LEVEL", ValueFrom: configMapKey("config", "level")},
			{Name: "APP", ValueFrom: fieldOf("metadata.labels['app']")},
			{Name: "IPS", ValueFrom: fieldOf("status.podIPs")},
			{Name: "MEMORY", ValueFrom: resourceOf("limits.memory", "1Mi")},
			{Name: "CPUS", ValueFrom: resourceOf("limits.cpu", "")},
			{Name: "REQUEST", ValueFrom: resourceOf("requests.cpu", "1m")},
			{Name: "HOST", Value: "of the container"},
		},
	}
	container.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100M")}
	container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}
	var environment Environment
	environment.Set("HOST", "default")
	require.NoError(t, environment.Add(t.Context(), newPod(), container))
	assert.Equal(t, []string{
		"HOST=of the container", "S_password=secret", "S_user=joe", "NAME=pod", "GREETING=hello pod, joe and $(LATER)", "LATER=x", "PASSWORD=secret",
		"LEVEL=info", "APP=a", "IPS=10.0.0.9,fd00::9", "MEMORY=96", "CPUS=8", "REQUEST=50",
	}, environment.List())
	assert.Equal(t, []string{"--name=pod", "--later=x"}, environment.Expand("--name=$(NAME)", "--later=$(LATER)"))
}

func TestEnvironment_Errors(t *testing.T) {
	for description, test := range map[string]struct {
		from *corev1.EnvVarSource
		want string
	}{
		"a Secret that does not exist": {secretKey("none", "key", false), `secrets "none" not found`},
		"a key that does not exist":    {secretKey("secret", "none", false), "Secret secret has no key none"},
		"an unknown field":             {fieldOf("spec.hostname"), "the field spec.hostname is not supported here"},
		"an unknown resource":          {resourceOf("limits", ""), "the resource limits is not supported here"},
		"an unknown source":            {&corev1.EnvVarSource{}, "its source is not supported here"},
	} {
		t.Run(description, func(t *testing.T) {
			container := &corev1.Container{Name: "main", Env: []corev1.EnvVar{{Name: "X", ValueFrom: test.from}}}
			err := new(Environment).Add(t.Context(), newPod(), container)
			assert.ErrorContains(t, err, "reading the variable X of container main: ")
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func file(content string, mode fs.FileMode) File { return File{Content: []byte(content), Mode: mode} }

func TestFiles(t *testing.T) {
	for description, test := range map[string]struct {
		source corev1.VolumeSource
		want   map[string]File
	}{
		"an empty folder": {corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, map[string]File{}},
		"all keys of a Secret": {
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret", DefaultMode: new(int32(0o400))}},
			map[string]File{"user": file("joe", 0o400), "password": file("secret", 0o400)},
		},
		"keys of a ConfigMap at paths": {
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: named("config"), Items: []corev1.KeyToPath{{Key: "level", Path: "log/level", Mode: new(int32(0o600))}, {Key: "binary", Path: "b"}},
			}},
			map[string]File{"log/level": file("info", 0o600), "b": file("\xff", 0o644)},
		},
		"an optional Secret that does not exist": {
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none", Optional: new(true)}}, map[string]File{},
		},
		"fields": {
			corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
				{Path: "cpus", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "main", Resource: "limits.cpu"}},
			}}},
			map[string]File{"labels": file("app=\"a\"\nrole=\"b\"", 0o644), "cpus": file("8", 0o644)},
		},
		"projections": {
			corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "gardener"}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: named("secret"), Items: []corev1.KeyToPath{{Key: "user", Path: "user"}}}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named("none"), Optional: new(true)}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
			}}},
			map[string]File{"token": file("token for gardener", 0o644), "user": file("joe", 0o644), "namespace": file("ns", 0o644)},
		},
	} {
		t.Run(description, func(t *testing.T) {
			pod := newPod()
			pod.Spec.Containers = []corev1.Container{{Name: "main"}}
			files, err := pod.Files(t.Context(), &corev1.Volume{Name: "volume", VolumeSource: test.source})
			require.NoError(t, err)
			assert.Equal(t, test.want, files)
		})
	}
}

func TestFiles_Errors(t *testing.T) {
	key := corev1.KeyToPath{Key: "none", Path: "x"}
	for description, test := range map[string]struct {
		source      corev1.VolumeSource
		want        string
		unsupported bool
	}{
		"a folder of the node": {corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}, "its kind is not supported here", true},
		"an unknown projection": {
			corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{}}}}, "a source is not supported here", true,
		},
		"a Secret that does not exist": {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}}, `secrets "none" not found`, false},
		"a key that does not exist": {
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret", Items: []corev1.KeyToPath{key}}}, "Secret secret has no key none", false,
		},
	} {
		t.Run(description, func(t *testing.T) {
			_, err := newPod().Files(t.Context(), &corev1.Volume{Name: "volume", VolumeSource: test.source})
			require.ErrorContains(t, err, "reading volume volume: "+test.want)
			assert.Equal(t, test.unsupported, errors.Is(err, ErrUnsupported))
		})
	}
}

func TestProbeResult(t *testing.T) {
	for description, test := range map[string]struct {
		probe            corev1.Probe
		answers, results string // + and -; "!" for a threshold of failures that is reached
	}{
		"one success suffices by default": {corev1.Probe{}, "+", "+"},
		"successes in a row":              {corev1.Probe{SuccessThreshold: 2}, "+-++", "-!-+"},
		"failures in a row":               {corev1.Probe{FailureThreshold: 3}, "+--+---", "+++++" + "+!"},
		"failures are counted anew":       {corev1.Probe{FailureThreshold: 2}, "----", "-!-!"},
		"ready again after a failure":     {corev1.Probe{FailureThreshold: 1}, "+-+", "+!+"},
	} {
		t.Run(description, func(t *testing.T) {
			var result ProbeResult
			var results string
			for _, answer := range test.answers {
				failed := result.Observe(&test.probe, answer == '+')
				switch {
				case failed:
					assert.False(t, result.Successful)
					results += "!"
				case result.Successful:
					results += "+"
				default:
					results += "-"
				}
			}
			assert.Equal(t, test.results, results)
		})
	}
}

func TestSetRunning(t *testing.T) {
	var status corev1.PodStatus
	containers := []corev1.Container{{Name: "a", Image: "image:1"}, {Name: "b"}}
	SetRunning(&status, containers, false)
	pod := &corev1.Pod{Status: status}
	assert.False(t, IsReady(pod))
	assert.Equal(t, corev1.PodRunning, status.Phase)
	initialized := status.Conditions[1]
	SetRunning(&pod.Status, containers, true)
	assert.True(t, IsReady(pod))
	assert.Equal(t, initialized, pod.Status.Conditions[1], "a condition that stays keeps its time")
	assert.Equal(t, "image:1", pod.Status.ContainerStatuses[0].Image)
	assert.True(t, pod.Status.ContainerStatuses[1].Ready)
	assert.Len(t, pod.Status.Conditions, 4)
}
