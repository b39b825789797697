package calico

import (
	_ "embed" // for the scripts
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The scripts run with bash in Calico's own image for nodes, which contains it and the tools for the node's network; installCNIPlugins runs with sh in
// the image of the plugins.
var (
	//go:embed scripts/remove-bird-routes.sh
	removeBIRDRoutes string
	//go:embed scripts/log-mtu-problems.sh
	logMTUProblems string
	//go:embed scripts/masquerade-upstream-dns.sh
	masqueradeUpstreamDNS string
	//go:embed scripts/install-cni-plugins.sh
	installCNIPlugins string
	//go:embed scripts/confirm-network.sh
	confirmNetwork string
)

// nodeInitContainers prepare a node, in this order.
func (s *settings) nodeInitContainers() ([]corev1.Container, error) {
	node, err := s.image("calico-node")
	if err != nil {
		return nil, err
	}
	plugin, err := s.image("calico-cni")
	if err != nil {
		return nil, err
	}
	var containers []corev1.Container
	if s.usesCalicoIPAM() {
		containers = append(containers, upgradeIPAM(plugin))
	}
	if s.form.Backend != backendBird {
		containers = append(containers, networkScript("cleanup-routes", node, removeBIRDRoutes))
	}
	if !s.form.UpstreamDNS {
		// Without ranges there is nothing left to masquerade.
		containers = append(containers, networkScript("cleanup-snat-rule-to-upstream-dns", node, masqueradeUpstreamDNS))
	}
	containers = append(containers, networkScript("log-mtu-issues", node, logMTUProblems), installCNI(plugin))
	if s.form.BPF {
		containers = append(containers, bootstrapBPF(node))
	}
	return containers, nil
}

// upgradeIPAM claims from calico-ipam the addresses that host-local assigned to the pods of the node. It does nothing on other nodes.
func upgradeIPAM(image string) corev1.Container {
	return corev1.Container{
		Name:            "upgrade-ipam",
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/opt/cni/bin/calico-ipam", "-upgrade"},
		EnvFrom:         fromEndpoint(),
		Env:             []corev1.EnvVar{fromNode("KUBERNETES_NODE_NAME"), fromConfig("CALICO_NETWORKING_BACKEND", configBackend)},
		SecurityContext: privileged(),
		VolumeMounts: []corev1.VolumeMount{
			{Name: volumeHostLocal, MountPath: "/var/lib/cni/networks"}, {Name: volumeCNIBin, MountPath: "/host/opt/cni/bin"},
		},
	}
}

// installCNI writes plugins and configuration to the disk of the node; from then on the node can start pods.
func installCNI(image string) corev1.Container {
	return corev1.Container{
		Name:            "install-cni",
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/opt/cni/bin/install"},
		EnvFrom:         fromEndpoint(),
		Env: []corev1.EnvVar{
			{Name: "CNI_CONF_NAME", Value: "10-calico.conflist"},
			fromConfig("CNI_NETWORK_CONFIG", configNetwork),
			fromNode("KUBERNETES_NODE_NAME"),
			fromConfig("CNI_MTU", configMTU),
			{Name: "SLEEP", Value: "false"},
		},
		SecurityContext: privileged(),
		VolumeMounts: []corev1.VolumeMount{
			{Name: volumeCNIBin, MountPath: "/host/opt/cni/bin"}, {Name: volumeCNINet, MountPath: "/host/etc/cni/net.d"},
		},
	}
}

// bootstrapBPF mounts the file systems for the maps and programs of an eBPF data plane.
func bootstrapBPF(image string) corev1.Container {
	return corev1.Container{
		Name:            "ebpf-bootstrap",
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"calico-node", "-init", "-best-effort"},
		SecurityContext: privileged(),
		VolumeMounts: []corev1.VolumeMount{
			{Name: volumeSys, MountPath: "/sys/fs", MountPropagation: new(corev1.MountPropagationBidirectional)},
			{Name: volumeVarRun, MountPath: "/var/run/calico", MountPropagation: new(corev1.MountPropagationBidirectional)},
			{Name: volumeProc, MountPath: "/nodeproc", ReadOnly: true},
		},
	}
}

// networkScript may change the routes and the packet filter of its node, and nothing else.
func networkScript(name, image, script string) corev1.Container {
	container := scripted(name, image, script, "NET_ADMIN", "NET_RAW")
	container.VolumeMounts = []corev1.VolumeMount{{Name: volumeXTables, MountPath: "/run/xtables.lock"}}
	return container
}

func scripted(name, image, script string, capabilities ...corev1.Capability) corev1.Container {
	return corev1.Container{
		Name: name, Image: image, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"/bin/bash", "-c", script},
		Resources: corev1.ResourceRequirements{Requests: requests("5m", "16Mi")},
		SecurityContext: &corev1.SecurityContext{
			Privileged: new(false), AllowPrivilegeEscalation: new(false),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: capabilities},
		},
	}
}

// privileged is for containers that change the node itself. Felix writes kernel parameters, which are read-only in other containers, and enters the
// network namespaces of pods; mounting file systems on the node needs privileges; and where SELinux is enforced, only privileged containers may write to
// the disk of the node.
func privileged() *corev1.SecurityContext { return &corev1.SecurityContext{Privileged: new(true)} }

// fromEndpoint reads the ConfigMap that exists only where nothing routes the Service of the kube-apiserver.
func fromEndpoint() []corev1.EnvFromSource {
	return []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: endpointName}, Optional: new(true),
	}}}
}

// nodeContainers are the containers that keep running.
func (s *settings) nodeContainers() ([]corev1.Container, error) {
	image, err := s.image("calico-node")
	if err != nil {
		return nil, err
	}
	containers := []corev1.Container{s.felix(image)}
	if s.form.UpstreamDNS {
		containers = append(containers, s.upstreamDNS(image))
	}
	if s.form.Backend != backendNone {
		containers = append(containers, networkConfirmation(image))
	}
	if !s.exportsBIRD() {
		return containers, nil
	}
	exporter, err := s.image("bird-exporter")
	if err != nil {
		return nil, err
	}
	return append(containers, s.birdExporter(exporter)), nil
}

// felix is the container that gives the pod its name: Felix, BIRD and the process that configures BIRD.
func (s *settings) felix(image string) corev1.Container {
	live, ready := []string{"/bin/calico-node", "-felix-live"}, []string{"/bin/calico-node", "-felix-ready"}
	if s.form.Backend == backendBird {
		live, ready = append(live, "-bird-live"), append(ready, "-bird-ready")
	}
	return corev1.Container{
		Name:            nodeDaemonSet,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		EnvFrom:         fromEndpoint(),
		Env:             s.nodeEnv(),
		Ports:           []corev1.ContainerPort{{Name: felixMetricsPortName, ContainerPort: felixMetricsPort, HostPort: felixMetricsPort, Protocol: corev1.ProtocolTCP}},
		Resources:       s.nodeResources(),
		SecurityContext: privileged(),
		Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
			Exec: &corev1.ExecAction{Command: []string{"/bin/calico-node", "-shutdown"}},
		}},
		LivenessProbe:  &corev1.Probe{ProbeHandler: execute(live), PeriodSeconds: 10, InitialDelaySeconds: 10, FailureThreshold: 6, TimeoutSeconds: 10},
		ReadinessProbe: &corev1.Probe{ProbeHandler: execute(ready), PeriodSeconds: 10, TimeoutSeconds: 10},
		VolumeMounts:   felixMounts(),
	}
}

func execute(command []string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}
}

// containerUpstreamDNS has upstream's name.
const containerUpstreamDNS = "add-snat-rule-to-upstream-dns"

// upstreamDNS masquerades requests of pods to the DNS servers of their node.
func (s *settings) upstreamDNS(image string) corev1.Container {
	container := networkScript(containerUpstreamDNS, image, masqueradeUpstreamDNS)
	pods := slices.Concat(s.podRanges4, s.podRanges6)
	container.Env = []corev1.EnvVar{{Name: "POD_CIDRS", Value: strings.Join(pods, " ")}}
	return container
}

// networkConfirmation sets the condition that the node's network is available again. It requests Felix' readiness at its port, which is reachable from
// all containers in the node's network.
func networkConfirmation(image string) corev1.Container {
	container := scripted("network-unavailable-condition-ensurer", image, confirmNetwork)
	container.EnvFrom = fromEndpoint()
	container.Env = []corev1.EnvVar{
		{Name: "DATASTORE_TYPE", Value: "kubernetes"},
		fromNode("NODENAME"),
		fromConfig("CALICO_NETWORKING_BACKEND", configBackend),
		{Name: "FELIX_HEALTHENABLED", Value: "true"},
	}
	return container
}

func (s *settings) birdExporter(image string) corev1.Container {
	args := []string{"-format.new=true", "-bird.socket=/var/run/calico/bird.ctl", "-web.listen-address=:" + strconv.Itoa(birdMetricsPort)}
	if s.ipv6 {
		args = append(args, "-bird.socket6=/var/run/calico/bird6.ctl")
	} else {
		args = append(args, "-bird.ipv6=false")
	}
	return corev1.Container{
		Name:            "bird-exporter",
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            args,
		Ports:           []corev1.ContainerPort{{Name: birdMetricsPortName, ContainerPort: birdMetricsPort, HostPort: birdMetricsPort, Protocol: corev1.ProtocolTCP}},
		Resources:       corev1.ResourceRequirements{Requests: requests("10m", "32Mi")},
		SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		VolumeMounts:    []corev1.VolumeMount{{Name: volumeVarRun, MountPath: "/var/run/calico", ReadOnly: true}},
	}
}
