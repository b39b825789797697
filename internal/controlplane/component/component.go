package component

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Component is a Deployment in the shoot's namespace of the seed, with a PodDisruptionBudget, a VerticalPodAutoscaler and, if it has metrics, a Service, a
// ServiceMonitor and a PrometheusRule. What differs between shoots is in Values.
type Component struct {
	// Name is the name of the Deployment and of its other objects.
	Name string
	// Selector is the Deployment's selector and part of its pods' labels. It cannot be changed on an existing Deployment, so it must be that of the upstream
	// extension.
	Selector map[string]string
	// Autoscaler is the name of the VerticalPodAutoscaler; default Name with "-vpa". Another name loses its recommendations.
	Autoscaler string
	// Priority is the name of the PriorityClass, one of those for control planes (gardener-system-100 to -500).
	Priority string
	// User is the ID of the user that its processes run as. Never 0.
	User int64
	// Containers are its containers, at least one.
	Containers []Container
	// Egress lists what its pods may connect to besides DNS and the shoot's kube-apiserver.
	Egress []Destination
	// Metrics describes its metrics; nil if there are none.
	Metrics *Metrics
	// SeedRules are permissions in the shoot's namespace of the seed: for a component that reads the API of the seed by itself. It then has a ServiceAccount
	// with the component's name.
	SeedRules []rbacv1.PolicyRule
	// PodAnnotations are annotations of its pods, e.g. a checksum of what its processes only read when they start.
	PodAnnotations map[string]string
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
	// Name is the container's name, which its VerticalPodAutoscaler's policy refers to.
	Name string
	// Image is a name in the image vector.
	Image string
	// Command and Args are the container's.
	Command, Args []string
	Env           []corev1.EnvVar
	Ports         []corev1.ContainerPort
	Liveness      *corev1.Probe
	// Requests are its resource requests, the minimum for the VerticalPodAutoscaler. There are no limits.
	Requests corev1.ResourceList
	// Files are Secrets that it mounts.
	Files []Files
	// ShootAccess is the name of its ServiceAccount in the shoot's kube-system; the kubeconfig is at KubeconfigPath. Empty if it does not use the shoot.
	ShootAccess string
	// Shared are folders that it shares with other containers of the pod by name, e.g. for a socket.
	Shared []SharedFolder
}

// KubeconfigPath is the path of the shoot's kubeconfig in a container with ShootAccess.
const KubeconfigPath = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig"

// Files is a Secret that a container mounts. It has either Source or Secret.
type Files struct {
	// Source names a config or a certificate of the plan (see Values.Secrets). The Secret's name contains a checksum of its content, so that a change of the
	// content changes the Deployment.
	Source string
	// Secret is the name of a Secret that others write and renew, e.g. a token. Pods see its new content, and are not replaced. Only Keys are mounted; a
	// missing one prevents that the pods start.
	Secret string
	Keys   []string
	// Path is the folder.
	Path string
}

// SharedFolder is an emptyDir.
type SharedFolder struct{ Name, Path string }

// Metrics describes the metrics of a component and its alerts.
type Metrics struct {
	// Port is the name of the port, which one of the containers has.
	Port string
	// Certificate names the certificate of the plan that the endpoint serves; empty means plain HTTP.
	Certificate string
	// Keep lists the metrics to keep, others are dropped.
	Keep []string
	// Alerts are alerting rules.
	Alerts []Alert
}

// Alert is an alerting rule of Prometheus.
type Alert struct {
	// Name is the alert's name, in CamelCase.
	Name string
	// Expression is in PromQL, For a duration such as "15m".
	Expression, For string
	// Severity is "critical", "warning" or "info"; Visibility is "all", "operator" or "owner".
	Severity, Visibility string
	// Summary and Description are the annotations of the alert.
	Summary, Description string
}

// Values is what differs between shoots.
type Values struct {
	// Namespace is the shoot's namespace in the seed.
	Namespace string
	// Hibernated is true if no pod must run.
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
