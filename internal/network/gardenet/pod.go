package gardenet

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

const (
	// portName and port are those at which an agent serves its metrics and answers probes, in the network of its node.
	portName, port = "metrics", 19081
	// program is the agent in its image, pluginFolder the CNI plugins there, and configFolder where the configuration is mounted.
	program, pluginFolder, configFolder = "/gardenet-agent", "/opt/cni/bin", "/etc/gardenet"
	// hostRoot is where parts of the node's file system are mounted.
	hostRoot = "/host"
	// volumeConfig is the volume with the configuration; those of the node's file system have the names of hostFolders.
	volumeConfig, volumePlugins = "config", "cni-bin"
)

// hostFolder is a folder of the node that the agent needs.
type hostFolder struct {
	name, path string
	kind       corev1.HostPathType
	readOnly   bool
}

// hostFolders are the folders of the node that the running agent needs.
func hostFolders() []hostFolder {
	return []hostFolder{
		{name: "cni-net", path: "/etc/cni/net.d", kind: corev1.HostPathDirectoryOrCreate},
		// The parameters of the node's network. In the container's own /proc they are read-only.
		{name: "sysctls", path: "/proc/sys/net", kind: corev1.HostPathDirectory},
		// The CNI plugin for host ports runs on the node, and uses nft if that is there.
		{name: "programs", path: "/usr/sbin", kind: corev1.HostPathDirectory, readOnly: true},
	}
}

func (s *settings) pod(document string) corev1.PodSpec {
	volumes := []corev1.Volume{
		{Name: volumeConfig, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: document},
		}}},
		onNode(hostFolder{name: volumePlugins, path: pluginFolder, kind: corev1.HostPathDirectoryOrCreate}),
	}
	for _, folder := range hostFolders() {
		volumes = append(volumes, onNode(folder))
	}
	spec := onEachNode(agentName)
	spec.InitContainers, spec.Containers, spec.Volumes = []corev1.Container{s.installPlugins()}, []corev1.Container{s.agent()}, volumes
	return spec
}

// onEachNode is what a pod of a node has besides containers and volumes.
func onEachNode(account string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:           account,
		AutomountServiceAccountToken: new(true),
		PriorityClassName:            "system-node-critical",
		HostNetwork:                  true,
		NodeSelector:                 map[string]string{corev1.LabelOSStable: "linux"},
		// It must run before a node is ready, and where it is not.
		Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		TerminationGracePeriodSeconds: new(int64(5)),
		SecurityContext:               &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
	}
}

func onNode(folder hostFolder) corev1.Volume {
	return corev1.Volume{Name: folder.name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder.path, Type: new(folder.kind)}}}
}

// installPlugins copies the CNI plugins to the node.
func (s *settings) installPlugins() corev1.Container {
	return corev1.Container{
		Name:            "install-plugins",
		Image:           s.image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{program, "install-plugins"},
		Args:            []string{"--from=" + pluginFolder, "--to=" + hostRoot + pluginFolder},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("20Mi"),
		}},
		SecurityContext: securityContext(),
		VolumeMounts:    []corev1.VolumeMount{{Name: volumePlugins, MountPath: hostRoot + pluginFolder}},
	}
}

// agent is the container that keeps running.
func (s *settings) agent() corev1.Container {
	mounts := []corev1.VolumeMount{{Name: volumeConfig, MountPath: configFolder, ReadOnly: true}}
	for _, folder := range hostFolders() {
		mounts = append(mounts, corev1.VolumeMount{Name: folder.name, MountPath: hostRoot + folder.path, ReadOnly: folder.readOnly})
	}
	resources := s.config.Resources.Node
	return corev1.Container{
		Name:            agentName,
		Image:           s.image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{program},
		Args: []string{
			"--config=" + configFolder + "/" + config.FileName,
			"--host-root=" + hostRoot,
			fmt.Sprintf("--bind-address=:%d", port),
		},
		Env:             s.environment(),
		Ports:           []corev1.ContainerPort{{Name: portName, ContainerPort: port, HostPort: port, Protocol: corev1.ProtocolTCP}},
		Resources:       corev1.ResourceRequirements{Requests: resources.Requests, Limits: resources.Limits},
		SecurityContext: securityContext("NET_ADMIN", "NET_RAW"),
		LivenessProbe:   probe("/healthz", "", port, 10, 6),
		ReadinessProbe:  probe("/readyz", "", port, 5, 3),
		VolumeMounts:    mounts,
	}
}

// environment is the name of the Node, and where the API server is if that must not be a Service.
func (s *settings) environment() []corev1.EnvVar {
	environment := []corev1.EnvVar{{
		Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}},
	}}
	if s.form.Services != "" && s.apiServerHost != "" {
		environment = append(environment,
			corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: s.apiServerHost},
			corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: strconv.Itoa(s.apiServerPort)})
	}
	return environment
}

// securityContext is that of a container that runs as root, which owns the files of the node that it writes, but with no more capabilities than these.
func securityContext(capabilities ...corev1.Capability) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		Privileged:               new(false),
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		RunAsUser:                new(int64(0)),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: capabilities},
	}
}

// probe asks the host, that of the pod if it is empty.
func probe(path, host string, port, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Host: host, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}},
		PeriodSeconds:    period,
		FailureThreshold: failures,
		TimeoutSeconds:   5,
	}
}
