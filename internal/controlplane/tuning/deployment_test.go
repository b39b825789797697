package tuning

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deploymentWith returns a Deployment with one main container, and one that just runs beside it.
func deploymentWith(command, args []string) *appsv1.Deployment {
	mounts := func() []corev1.VolumeMount {
		return []corev1.VolumeMount{{Name: "ca", MountPath: "/ca"}, {Name: "etc-ssl", MountPath: "/etc/ssl"}}
	}
	labels := map[string]string{"app": "kubernetes", "to-public": "allowed"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "kube-thing"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kubernetes"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "before", VolumeMounts: mounts()}},
					Containers: []corev1.Container{
						{Name: "beside", Command: []string{"/beside", "--cloud-provider=aws"}, VolumeMounts: mounts()},
						{Name: "kube-thing", Command: command, Args: args, VolumeMounts: mounts()},
					},
					Volumes: []corev1.Volume{{Name: "ca"}, {Name: "etc-ssl"}},
				},
			},
		},
	}
}

func TestTuneDeployment_Flags(t *testing.T) {
	pod := Pod{SetFlags: map[string]string{"--cloud-provider": "external", "--a": "b"}, DropFlags: []string{"--cloud-config"}}
	for sentence, test := range map[string]struct{ command, args, wantCommand, wantArgs []string }{
		"new flags come last, in order, in the command of a component without arguments": {
			command:     []string{"/kube-thing", "--z=1"},
			wantCommand: []string{"/kube-thing", "--z=1", "--a=b", "--cloud-provider=external"},
		},
		"new flags go to the arguments of a component that has some": {
			command: []string{"/kube-thing"}, args: []string{"--z=1"},
			wantCommand: []string{"/kube-thing"}, wantArgs: []string{"--z=1", "--a=b", "--cloud-provider=external"},
		},
		"a flag with another value changes in its place": {
			command: []string{"/kube-thing"}, args: []string{"--a=c", "--cloud-provider=openstack", "--z=1"},
			wantCommand: []string{"/kube-thing"}, wantArgs: []string{"--a=b", "--cloud-provider=external", "--z=1"},
		},
		"a flag among the command stays there even when there are arguments": {
			command: []string{"/kube-thing", "--cloud-provider=aws"}, args: []string{"--a=b"},
			wantCommand: []string{"/kube-thing", "--cloud-provider=external"}, wantArgs: []string{"--a=b"},
		},
		"a flag given twice is given once": {
			command:     []string{"/kube-thing", "--a=1", "--cloud-provider=aws", "--a=2", "--cloud-provider", "gcp"},
			wantCommand: []string{"/kube-thing", "--a=b", "--cloud-provider=external"},
		},
		"a flag whose value is the next word is one flag": {
			command:     []string{"/kube-thing", "--cloud-config", "/etc/cloud.conf", "--a", "1", "--cloud-provider", "--z=1"},
			wantCommand: []string{"/kube-thing", "--a=b", "--cloud-provider=external", "--z=1"},
		},
		"a flag with a longer name is another flag": {
			command:     []string{"/kube-thing", "--cloud-config-dir=/etc", "--a=b", "--cloud-provider=external", "--cloud-config=x"},
			wantCommand: []string{"/kube-thing", "--cloud-config-dir=/etc", "--a=b", "--cloud-provider=external"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			deployment := deploymentWith(test.command, test.args)
			require.NoError(t, TuneKubeControllerManager(deployment, pod))
			main := deployment.Spec.Template.Spec.Containers[1]
			assert.Equal(t, test.wantCommand, main.Command)
			assert.Equal(t, test.wantArgs, main.Args)
			assert.Equal(t, []string{"/beside", "--cloud-provider=aws"}, deployment.Spec.Template.Spec.Containers[0].Command)
		})
	}
}

func TestTuneDeployment_VolumesAndLabels(t *testing.T) {
	deployment := deploymentWith([]string{"/kube-thing"}, nil)
	require.NoError(t, TuneKubeAPIServer(deployment, Pod{
		DropVolumes: []string{"etc-ssl", "never-there"},
		DropLabels:  []string{"to-public", "never-there"},
		AddVolumes: []corev1.Volume{
			{Name: "ca", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "config"},
		},
		AddMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/ca"}, {Name: "config", MountPath: "/config"}},
	}))

	pod := deployment.Spec.Template.Spec
	assert.Equal(t, map[string]string{"app": "kubernetes"}, deployment.Spec.Template.Labels)
	assert.Equal(t, []corev1.Volume{
		{Name: "ca", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, {Name: "config"},
	}, pod.Volumes)
	assert.Equal(t, []corev1.VolumeMount{{Name: "ca", MountPath: "/ca"}}, pod.InitContainers[0].VolumeMounts)
	assert.Equal(t, []corev1.VolumeMount{{Name: "ca", MountPath: "/ca"}}, pod.Containers[0].VolumeMounts)
	assert.Equal(t, []corev1.VolumeMount{{Name: "config", MountPath: "/ca"}, {Name: "config", MountPath: "/config"}}, pod.Containers[1].VolumeMounts)
}

func TestTuneDeployment_WithoutMainContainer(t *testing.T) {
	pod := Pod{SetFlags: map[string]string{"--a": "b"}, DropVolumes: []string{"etc-ssl"}, DropLabels: []string{"to-public"}}
	renamed := deploymentWith([]string{"/kube-thing"}, nil)
	renamed.Name = "kube-other"
	for sentence, deployment := range map[string]*appsv1.Deployment{
		"its main container is missing": renamed,
		"it has no containers at all":   {ObjectMeta: metav1.ObjectMeta{Name: "kube-thing"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := deployment.DeepCopy()
			require.NoError(t, TuneKubeAPIServer(deployment, pod))
			assert.Empty(t, cmp.Diff(before, deployment))
		})
	}
}

// What gardener/docs/extensions/controlplane-webhooks.md keeps for Gardener, and what would break the Deployment.
func TestTuneDeployment_Errors(t *testing.T) {
	for sentence, test := range map[string]struct {
		tune func(*appsv1.Deployment, Pod) error
		pod  Pod
		want string
	}{
		"the address by which the API server is exposed, set": {
			TuneKubeAPIServer,
			Pod{SetFlags: map[string]string{"--advertise-address": "10.0.0.1"}},
			"tuning Deployment shoot--dev--one/kube-thing: the flag --advertise-address is Gardener's own",
		},
		"the address by which the API server is exposed, dropped": {
			TuneKubeAPIServer,
			Pod{DropFlags: []string{"--advertise-address"}},
			"tuning Deployment shoot--dev--one/kube-thing: the flag --advertise-address is Gardener's own",
		},
		"how the API server's endpoints are kept, set": {
			TuneKubeAPIServer,
			Pod{SetFlags: map[string]string{"--endpoint-reconciler-type": "lease"}},
			"tuning Deployment shoot--dev--one/kube-thing: the flag --endpoint-reconciler-type is Gardener's own",
		},
		"how the API server's endpoints are kept, dropped": {
			TuneKubeAPIServer,
			Pod{DropFlags: []string{"--endpoint-reconciler-type"}},
			"tuning Deployment shoot--dev--one/kube-thing: the flag --endpoint-reconciler-type is Gardener's own",
		},
		"a label by which the Deployment finds its pods": {
			TuneKubeControllerManager,
			Pod{DropLabels: []string{"to-public", "app"}},
			"tuning Deployment shoot--dev--one/kube-thing: spec.template.metadata.labels[app]: the Deployment selects its pods by this label",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			deployment := deploymentWith([]string{"/kube-thing"}, []string{"--advertise-address=1.1.1.1", "--endpoint-reconciler-type=none"})
			before := deployment.DeepCopy()
			require.EqualError(t, test.tune(deployment, test.pod), test.want)
			assert.Empty(t, cmp.Diff(before, deployment))
		})
	}
}
