package component

import (
	corev1 "k8s.io/api/core/v1"
)

// Component is a Deployment in the shoot's namespace of the seed, with all that belongs to it: a PodDisruptionBudget, a
// VerticalPodAutoscaler and, if it has metrics, a Service, a ServiceMonitor and a PrometheusRule. It describes; what differs
// between shoots comes from Values.
type Component struct {
	// Name is the name of the Deployment and of what is around it.
	Name string
	// Selector is the Deployment's selector and part of its pods' labels. It cannot be changed on a living Deployment: it
	// must be that of the extension from which a shoot may come.
	Selector map[string]string
	// Autoscaler is the name of the VerticalPodAutoscaler; empty means Name with "-vpa". What it has learnt is lost with its name.
	Autoscaler string
	// Priority is the name of the PriorityClass, one of those for control planes (gardener-system-100 to -500).
	Priority string
	// User is the ID of the user that its processes run as. Never 0.
	User int64
	// Containers are its containers, at least one.
	Containers []Container
	// Egress lists what its pods may connect to besides DNS and the shoot's kube-apiserver.
	Egress []Destination
	// Metrics says what Prometheus finds; nil when there is nothing.
	Metrics *Metrics
	// Webhooks says how the shoot's kube-apiserver calls the component; nil if it does not.
	Webhooks *WebhookServer
}

// WebhookServer is a server of webhooks of the shoot's kube-apiserver.
type WebhookServer struct {
	// Service is the name of its Service. It must be another one than the component's, which is the Service of its metrics.
	Service string
	// Port is the name of the port, which one of the containers has.
	Port string
}

// WebhookServicePort is the port of the Service of a WebhookServer.
const WebhookServicePort = 443

// Destination is a group of addresses that Gardener's network policies know.
type Destination string

// Destinations.
const (
	PublicNetworks  Destination = "to-public-networks"
	PrivateNetworks Destination = "to-private-networks"
)

// Container is a container of a Component, or of a DaemonSet in the shoot.
type Container struct {
	// Name is the container's name. Its VerticalPodAutoscaler's policy goes by it.
	Name string
	// Image is a name in the image vector.
	Image string
	// Command and Args are the container's.
	Command, Args []string
	Env           []corev1.EnvVar
	Ports         []corev1.ContainerPort
	Liveness      *corev1.Probe
	// Requests are what it asks for; VerticalPodAutoscaler goes no lower. There are no limits.
	Requests corev1.ResourceList
	// Files are Secrets that it sees as folders.
	Files []Files
	// ShootAccess is the name of the ServiceAccount in the shoot's kube-system that it logs in as; its kubeconfig is at
	// KubeconfigPath. Empty when it does not speak to the shoot.
	ShootAccess string
	// Shared are folders that it shares with other containers of the pod by name, e.g. for a socket.
	Shared []SharedFolder
}

// KubeconfigPath is where a container with ShootAccess finds the kubeconfig of the shoot.
const KubeconfigPath = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig"

// Files is a Secret that a container sees as a folder. The Secret's name carries a checksum of what is in it, so that a
// change of its content is a change of the Deployment.
type Files struct {
	// Source names a config or a certificate of the plan (see Values.Secrets).
	Source string
	// Path is the folder.
	Path string
}

// SharedFolder is a folder that lives as long as the pod.
type SharedFolder struct{ Name, Path string }

// Metrics says how Prometheus scrapes a component and what it makes of it.
type Metrics struct {
	// Port is the name of the port, which one of the containers has.
	Port string
	// Certificate names the certificate of the plan that the endpoint serves; empty means plain HTTP.
	Certificate string
	// Keep lists the metrics to keep, others are dropped.
	Keep []string
	// Alerts are rules that page somebody.
	Alerts []Alert
}

// Alert is a rule of Prometheus.
type Alert struct {
	// Name is the alert's name, in CamelCase.
	Name string
	// Expression is in PromQL, For a duration such as "15m".
	Expression, For string
	// Severity is "critical", "warning" or "info"; Visibility is "all", "operator" or "owner".
	Severity, Visibility string
	// Summary and Description are for humans.
	Summary, Description string
}

// Values is what differs between shoots.
type Values struct {
	// Namespace is the shoot's namespace in the seed.
	Namespace string
	// Hibernated is true when nothing shall run.
	Hibernated bool
	// GenericKubeconfig is the name of the Secret with the generic kubeconfig of the shoot.
	GenericKubeconfig string
	// Secrets maps the names of the plan's configs and certificates to Secrets. A certificate's CA bundle is at CABundleOf.
	Secrets map[string]string
	// Image looks up a name in the image vector for this shoot.
	Image func(name string) (string, error)
}

// CABundleOf returns the key in Values.Secrets for the bundle of CAs that may have signed a certificate.
func CABundleOf(certificate string) string { return certificate + "/ca" }
