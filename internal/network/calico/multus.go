package calico

import (
	"maps"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const multusName = "multus"

// multusObjects returns Multus, which the container runtime calls instead of Calico, and which calls Calico first. NetworkAttachmentDefinitions of users
// define what it calls next; the definition of that kind is rendered with Calico's.
func (s *settings) multusObjects() ([]client.Object, error) {
	if !s.hasMultus() {
		return nil, nil
	}
	daemonSet, err := s.multusDaemonSet()
	if err != nil {
		return nil, err
	}
	objects := []client.Object{serviceAccount(multusName), daemonSet}
	return append(objects, clusterGrant(multusName, multusRules(), multusName)...), nil
}

func (s *settings) hasMultus() bool { return s.config.Multus != nil && s.config.Multus.Enabled }

func multusRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		policyRule("k8s.cni.cncf.io", []string{"network-attachment-definitions"}, []string{"get", "list", "watch"}),
		policyRule("", []string{"pods"}, []string{"get", "list", "watch"}),
		// Multus writes the networks of a pod to its annotations, through its status.
		policyRule("", []string{"pods/status"}, []string{"get", "update"}),
		{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
	}
}

func (s *settings) multusDaemonSet() (*appsv1.DaemonSet, error) {
	pod, err := s.multusPod()
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		appLabel:                    multusName,
		v1beta1constants.GardenRole: v1beta1constants.GardenRoleSystemComponent,
		v1beta1constants.LabelNodeCriticalComponent: "true",
	}
	ofPods := podLabels(multusName)
	maps.Copy(ofPods, labels)
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: multusName, Namespace: metav1.NamespaceSystem, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: multusName}},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(2))},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: ofPods}, Spec: pod},
		},
	}, nil
}

func (s *settings) multusPod() (corev1.PodSpec, error) {
	image, err := s.image("multus-cni")
	if err != nil {
		return corev1.PodSpec{}, err
	}
	shell, err := s.image("calico-node")
	if err != nil {
		return corev1.PodSpec{}, err
	}
	plugins := []corev1.Container{multusCopy("install-multus-cni", image, []string{"/install_multus"}, []string{"--type", "thin"})}
	if install := s.config.Multus.InstallCNIPlugins; install != nil && *install {
		image, err := s.image("cni-plugins")
		if err != nil {
			return corev1.PodSpec{}, err
		}
		plugins = append(plugins, multusCopy("install-cni-plugins", image, []string{"/bin/sh", "-c"}, []string{installCNIPlugins}))
	}
	return corev1.PodSpec{
		ServiceAccountName:            multusName,
		PriorityClassName:             "system-node-critical",
		HostNetwork:                   true,
		HostPID:                       true,
		NodeSelector:                  map[string]string{corev1.LabelOSStable: "linux"},
		Tolerations:                   tolerateEverything(),
		TerminationGracePeriodSeconds: new(int64(10)),
		SecurityContext:               &corev1.PodSecurityContext{SeccompProfile: runtimeDefault()},
		InitContainers:                plugins,
		Containers:                    []corev1.Container{multusContainer(image), multusCleanup(shell)},
		Volumes:                       []corev1.Volume{hostFolder("cni", "/etc/cni/net.d"), hostFolder("cnibin", "/opt/cni/bin")},
	}, nil
}

// multusContainer writes the configuration of Multus, which contains Calico's, once Calico has written that.
func multusContainer(image string) corev1.Container {
	return corev1.Container{
		Name:            multusName,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/thin_entrypoint"},
		Args: []string{
			// Only with this flag it also keeps its kubeconfig and its copy of Calico's configuration up to date.
			"--cleanup-config-on-exit",
			"--cni-bin-dir=/host/opt/cni/bin",
			"--cni-conf-dir=/host/etc/cni/net.d",
			"--multus-autoconfig-dir=/host/etc/cni/net.d",
			"--multus-cni-conf-dir=/etc/cni/multus/net.d",
			"--multus-conf-file=auto",
			"--multus-log-file=/var/log/multus.log",
			"--multus-log-level=error",
			"--multus-log-to-stderr=true",
			"--multus-master-cni-file-name=10-calico.conflist",
			"--readiness-indicator-file=/etc/cni/net.d/10-calico.conflist",
		},
		Env: []corev1.EnvVar{{
			Name: "MULTUS_NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}},
		}},
		Resources:       corev1.ResourceRequirements{Requests: requests("100m", "200Mi")},
		SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "cni", MountPath: "/host/etc/cni/net.d"},
			{Name: "cnibin", MountPath: "/host/opt/cni/bin"},
		},
	}
}

// multusCleanupScript waits for the pod's termination, lets Multus terminate first, which would write its configuration again, and removes the
// configuration.
const multusCleanupScript = `trap 'kill $!; sleep 2; rm -f /host/etc/cni/net.d/00-multus.conf*; exit 0' TERM
while true; do sleep infinity & wait $!; done
`

// multusCleanup removes the configuration of Multus from the node when the pod terminates, which Multus itself does not: as long as it exists, the
// container runtime calls Multus, and without Multus' ServiceAccount no pod would start any more.
func multusCleanup(image string) corev1.Container {
	return corev1.Container{
		Name: "remove-configuration", Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
		Command:   []string{"/bin/bash", "-c", multusCleanupScript},
		Resources: corev1.ResourceRequirements{Requests: requests("5m", "10Mi")},
		SecurityContext: &corev1.SecurityContext{
			RunAsUser: new(int64(0)), AllowPrivilegeEscalation: new(false),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "cni", MountPath: "/host/etc/cni/net.d"}},
	}
}

// multusCopy copies plugins from an image to the node. The folder there belongs to root.
func multusCopy(name, image string, command, args []string) corev1.Container {
	return corev1.Container{
		Name: name, Image: image, ImagePullPolicy: corev1.PullIfNotPresent, Command: command, Args: args,
		Resources:       corev1.ResourceRequirements{Requests: requests("10m", "15Mi")},
		SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
		VolumeMounts:    []corev1.VolumeMount{{Name: "cnibin", MountPath: "/host/opt/cni/bin"}},
	}
}

func hostFolder(name, path string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: path, Type: new(corev1.HostPathDirectoryOrCreate)},
	}}
}
