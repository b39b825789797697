package workload

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const namespace = "shoot--dev--one"

func objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}

// deploymentOf returns a Deployment with a container that says what it was given, and then waits.
func deploymentOf(volumes ...corev1.Volume) *appsv1.Deployment {
	container := corev1.Container{
		Name: "main", Command: []string{"/usr/bin/sh"},
		Args: []string{"-c", `env; echo "$@"; exec sleep 60`, "sh", "--config=/etc/app/conf", "--port=443", "--greeting=$(GREETING)"},
		Env:  []corev1.EnvVar{{Name: "GREETING", Value: "hello"}, {Name: "HOME_OF_APP", Value: "/etc/app"}},
	}
	for _, volume := range volumes {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: "/etc/" + volume.Name})
	}
	deployment := &appsv1.Deployment{ObjectMeta: objectMeta("app")}
	deployment.Spec.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{container}, Volumes: volumes}
	return deployment
}

func secretVolume(name, secret string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}
}

func projectedVolume(name string, sources ...corev1.VolumeProjection) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}}}
}

func keyOf(secret, key, path string) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Items: []corev1.KeyToPath{{Key: key, Path: path}},
	}}
}

func run(dir string) Run {
	return Run{
		Namespace: namespace, Deployment: "app", Container: "main", Program: "/bin/sh", Dir: filepath.Join(dir, "container"),
		Flags: map[string]string{"port": "1234", "extra": "yes"},
	}
}

func TestRunContainer(t *testing.T) {
	conf := &corev1.Secret{ObjectMeta: objectMeta("conf-1"), Data: map[string][]byte{"conf": []byte("ca=/etc/app/ca other=/etc/application token=/etc/token/now/token")}}
	token := &corev1.Secret{ObjectMeta: objectMeta("token"), Data: map[string][]byte{"ignored": nil}}
	c := fake.NewClientBuilder().WithObjects(conf, token, deploymentOf(
		secretVolume("app", "conf-1"), projectedVolume("token", keyOf("token", "token", "now/token")),
	)).Build()
	late := time.AfterFunc(300*time.Millisecond, func() { setToken(t, c, "first") })
	defer late.Stop()
	t.Setenv("OS_PASSWORD", "of the one who tests")
	options := run(t.TempDir())
	container, err := RunContainer(t.Context(), c, options)
	require.NoError(t, err)
	t.Cleanup(container.Stop)

	root := filepath.Join(options.Dir, "root")
	eventually(t, "it speaks", func() bool { return strings.Contains(logOutput(t, container), "--config") })
	assert.Contains(t, logOutput(t, container), "--config="+root+"/etc/app/conf --greeting=hello --extra=yes --port=1234\n")
	assert.Contains(t, logOutput(t, container), "HOME_OF_APP="+root+"/etc/app\n")
	assert.NotContains(t, logOutput(t, container), "OS_PASSWORD", "the environment is the container's own")
	content, err := os.ReadFile(filepath.Join(root, "etc/app/conf"))
	require.NoError(t, err)
	assert.Equal(t, "ca="+root+"/etc/app/ca other=/etc/application token="+root+"/etc/token/now/token", string(content))
	path := filepath.Join(root, "etc/token/now/token")
	assert.Equal(t, "first", read(t, path), "it was waited for")

	setToken(t, c, "second")
	eventually(t, "the file follows the Secret", func() bool { return read(t, path) == "second" })

	conf.Name, conf.ResourceVersion, conf.Data = "conf-2", "", map[string][]byte{"conf": []byte("new")}
	require.NoError(t, c.Create(t.Context(), conf))
	deployment := &appsv1.Deployment{ObjectMeta: objectMeta("app")}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment))
	deployment.Spec.Template.Spec.Volumes[0] = secretVolume("app", "conf-2")
	require.NoError(t, c.Update(t.Context(), deployment))
	before := container.PID()
	require.NoError(t, container.Restart(t.Context()))
	assert.NotEqual(t, before, container.PID())
	assert.Equal(t, "new", read(t, filepath.Join(root, "etc/app/conf")))
}

func TestRunContainer_Unsupported(t *testing.T) {
	for description, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   string
	}{
		"a folder of the node": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes[0] = corev1.Volume{Name: "app", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}}
		}, "reading volume app: its kind is not supported here"},
		"a token of the seed": {func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes[0] = projectedVolume("app", corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}})
		}, "reading volume app: a source is not supported here"},
		"a part of a volume": {func(d *appsv1.Deployment) { containerOf(d).VolumeMounts[0].SubPath = "conf" }, "mount path /etc/app is not supported here"},
		"another program":    {func(d *appsv1.Deployment) { containerOf(d).Command[0] = "/bin/bash" }, "container main runs bash, not /bin/sh"},
		"a variable from elsewhere": {func(d *appsv1.Deployment) {
			containerOf(d).Env[0].ValueFrom = &corev1.EnvVarSource{}
		}, "reading the variable GREETING of container main: its source is not supported here"},
		"another container":            {func(d *appsv1.Deployment) { containerOf(d).Name = "sidecar" }, "no container main in Deployment app"},
		"a Secret that never turns up": {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes[0] = secretVolume("app", "none") }, `secrets "none" not found`},
	} {
		t.Run(description, func(t *testing.T) {
			deployment := deploymentOf(secretVolume("app", "conf"))
			test.change(deployment)
			conf := &corev1.Secret{ObjectMeta: objectMeta("conf")}
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			_, err := RunContainer(ctx, fake.NewClientBuilder().WithObjects(deployment, conf).Build(), run(t.TempDir()))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func containerOf(deployment *appsv1.Deployment) *corev1.Container {
	return &deployment.Spec.Template.Spec.Containers[0]
}

func setToken(t *testing.T, c client.Client, token string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: objectMeta("token"), Data: map[string][]byte{"token": []byte(token)}}
	assert.NoError(t, c.Update(t.Context(), secret))
}

func logOutput(t *testing.T, container *Container) string {
	t.Helper()
	output, err := container.Output()
	require.NoError(t, err)
	return output
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 30*time.Second, 10*time.Millisecond, what)
}
