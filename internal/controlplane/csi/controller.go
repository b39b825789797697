package csi

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// The socket over which the containers of a pod talk to the plugin.
const (
	socketVolume   = "socket-dir"
	socketFolder   = "/csi"
	socketPath     = socketFolder + "/csi.sock"
	socketVariable = "CSI_ENDPOINT"
)

const (
	controllerPriority   = "gardener-system-300"
	controllerHealthPort = 9808
	healthPortName       = "healthz"
	livenessProbeName    = "liveness-probe"
	livenessProbeImage   = "csi-liveness-probe"
)

// Component returns what runs in the seed for the driver: the plugin, the sidecars that it uses, and a liveness probe.
//
// Nothing depends on the version of the shoot's Kubernetes. Where the image vector has two versions of a sidecar (provisioner
// 5 and 6, resizer 1 and 2), both take the flags that are set here, and the rights in the shoot are enough for either.
func (d Driver) Component() component.Component {
	c := d.Controller
	return component.Component{
		Name:       c.Name,
		Selector:   c.Selector,
		Autoscaler: c.Autoscaler,
		Priority:   controllerPriority,
		User:       c.User,
		Containers: slices.Concat(
			[]component.Container{withLivenessProbe(withSocket(c.Plugin), controllerHealthPort)},
			c.Extra,
			c.sidecars(),
			[]component.Container{withSocket(livenessProbe(c.ContainerPrefix, controllerHealthPort))},
		),
		Egress: c.Egress,
	}
}

// withSocket gives the container the folder with the socket.
func withSocket(container component.Container) component.Container {
	container.Shared = slices.Concat([]component.SharedFolder{{Name: socketVolume, Path: socketFolder}}, container.Shared)
	return container
}

// withLivenessProbe says where the plugin listens, and lets the liveness probe beside it decide whether the plugin is restarted.
func withLivenessProbe(plugin component.Container, healthPort int32) component.Container {
	plugin.Env = slices.Concat([]corev1.EnvVar{{Name: socketVariable, Value: "unix://" + socketPath}}, plugin.Env)
	plugin.Ports = slices.Concat(plugin.Ports, []corev1.ContainerPort{
		{Name: healthPortName, ContainerPort: healthPort, Protocol: corev1.ProtocolTCP},
	})
	plugin.Liveness = &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/healthz", Port: intstr.FromString(healthPortName), Scheme: corev1.URISchemeHTTP,
		}},
		InitialDelaySeconds: 10,
		TimeoutSeconds:      5,
		PeriodSeconds:       10,
		SuccessThreshold:    1,
		FailureThreshold:    5,
	}
	return plugin
}

// livenessProbe asks the plugin by its socket and answers the kubelet by HTTP. It gives up on the plugin before the kubelet
// gives up on it, so that the reason is in its log.
func livenessProbe(containerPrefix string, port int32) component.Container {
	return component.Container{
		Name:     containerPrefix + livenessProbeName,
		Image:    livenessProbeImage,
		Args:     []string{"--csi-address=" + socketPath, "--probe-timeout=3s", fmt.Sprintf("--health-port=%d", port)},
		Requests: requests("32Mi"),
	}
}

// requests are those of a process that mostly waits.
func requests(memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("11m"), corev1.ResourceMemory: resource.MustParse(memory)}
}
