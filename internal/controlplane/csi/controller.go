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

	// SocketAddress is the address of the plugin for further containers of the driver.
	SocketAddress = socketPath
)

const (
	controllerPriority   = "gardener-system-300"
	controllerHealthPort = 9808
	healthPortName       = "healthz"
	livenessProbeName    = "liveness-probe"
	livenessProbeImage   = "csi-liveness-probe"
)

// Component returns the driver's component in the seed: the plugin, the sidecars that it uses, and a liveness probe.
//
// It does not depend on the shoot's version of Kubernetes. If the image vector has two versions of a sidecar (provisioner 5 and 6, resizer 1 and 2), both
// accept the flags that are set here, and the permissions in the shoot are sufficient for either.
func (d Driver) Component() component.Component {
	c := d.Controller
	return component.Component{
		Name:       c.Name,
		Selector:   c.Selector,
		Autoscaler: c.Autoscaler,
		Priority:   controllerPriority,
		User:       c.User,
		Containers: slices.Concat(
			[]component.Container{withLivenessProbe(WithSocket(c.Plugin), controllerHealthPort)},
			c.Extra,
			c.sidecars(),
			[]component.Container{WithSocket(livenessProbe(c.ContainerPrefix, controllerHealthPort))},
		),
		Egress:  c.Egress,
		Metrics: c.Metrics,
	}
}

// WithSocket mounts the folder with the socket, whose address is SocketAddress, into a container of a driver.
func WithSocket(container component.Container) component.Container {
	container.Shared = slices.Concat([]component.SharedFolder{{Name: socketVolume, Path: socketFolder}}, container.Shared)
	return container
}

// withLivenessProbe sets the address of the plugin, and a liveness probe that is answered by the probe's container.
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

// livenessProbe checks the plugin by its socket and answers the kubelet by HTTP. Its timeout is shorter than the kubelet's, so that the reason is in its
// log.
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
