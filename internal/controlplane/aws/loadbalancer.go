package aws

import (
	"cmp"
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

const (
	balancerName = "aws-load-balancer-controller"
	// balancerService is the Service of its webhooks, and the name of its server certificate.
	balancerService = balancerName + "-webhook-service"
	// balancerServerFolder is its default folder for the certificate.
	balancerServerFolder = "/tmp/k8s-webhook-server/serving-certs"

	balancerWebhookPort = 9443
	balancerMetricsPort = 8080
	balancerHealthPort  = 61779

	defaultIngressClass = "alb"
)

// addLoadBalancerController adds the controller for Ingresses and for Services that ask for it, with its webhooks in the shoot.
func (in *inputs) addLoadBalancerController(plan *controlplane.Plan, crds func() ([]client.Object, error)) error {
	if !in.balancesLoad() {
		return nil
	}
	definitions, err := crds()
	if err != nil {
		return fmt.Errorf("reading the definitions of kinds of the load balancer controller: %w", err)
	}
	plan.CRDs = append(plan.CRDs, definitions...)
	plan.Components = append(plan.Components, in.loadBalancerController())
	plan.Certificates = append(plan.Certificates, controlplane.Certificate{Name: balancerService, Service: balancerService})
	plan.ShootObjects = append(append(plan.ShootObjects, balancerPermissions().Objects()...), in.ingressClass())
	plan.ShootWebhooks = append(plan.ShootWebhooks, balancerWebhooks())
	if in.tunesServices() {
		plan.ShootWebhooks = append(plan.ShootWebhooks, serviceWebhook())
	}
	return nil
}

func (in *inputs) ingressClassName() string {
	if name := in.config.LoadBalancerController.IngressClassName; name != nil {
		return cmp.Or(*name, defaultIngressClass)
	}
	return defaultIngressClass
}

func (in *inputs) loadBalancerController() component.Component {
	container := component.Container{
		Name:    balancerName,
		Image:   balancerName,
		Command: []string{"/controller"},
		Args: []string{
			"--cluster-name=" + in.technicalID,
			"--ingress-class=" + in.ingressClassName(),
			"--disable-ingress-class-annotation=true",
			"--aws-region=" + in.region,
			"--aws-vpc-id=" + in.infrastructure.VPC.ID,
			// By these the Infrastructure finds what is left when the shoot is deleted.
			"--default-tags=KubernetesCluster=" + in.technicalID + ",kubernetes.io/cluster/" + in.technicalID + "=owned",
			"--default-target-type=instance",
			// Otherwise it starts controllers for Gateways as soon as a user installs the kinds of the Gateway API, for whatever controller, and ends since its own
			// kinds for them and the rights are missing.
			"--feature-gates=ALBGatewayAPI=false,NLBGatewayAPI=false",
			"--kubeconfig=" + component.KubeconfigPath,
			"--leader-election-namespace=" + metav1.NamespaceSystem,
		},
		Ports: []corev1.ContainerPort{
			{Name: "webhook-server", ContainerPort: balancerWebhookPort, Protocol: corev1.ProtocolTCP},
			{Name: "metrics-server", ContainerPort: balancerMetricsPort, Protocol: corev1.ProtocolTCP},
		},
		Liveness: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/healthz", Scheme: corev1.URISchemeHTTP, Port: intstr.FromInt32(balancerHealthPort),
			}},
			InitialDelaySeconds: 30, PeriodSeconds: 10, TimeoutSeconds: 10, SuccessThreshold: 1, FailureThreshold: 2,
		},
		Requests:    requests("20m", "128Mi"),
		Files:       []component.Files{{Source: balancerService, Path: balancerServerFolder}},
		ShootAccess: balancerName,
	}
	return component.Component{
		Name: balancerName,
		// The second is the name of upstream's chart. Selectors cannot be changed.
		Selector:   map[string]string{"app.kubernetes.io/name": balancerName, "app.kubernetes.io/instance": "seed-controlplane"},
		Autoscaler: balancerName,
		Priority:   v1beta1constants.PriorityClassNameShootControlPlane300,
		User:       nonrootUser,
		Containers: []component.Container{in.withCredentials(container)},
		Egress:     []component.Destination{component.PublicNetworks},
		Webhooks:   &component.WebhookServer{Service: balancerService, Port: "webhook-server"},
		Metrics: &component.Metrics{
			Port: "metrics-server",
			Keep: []string{"process_max_fds", "process_open_fds", "controller_runtime_reconcile_total", "aws_api_calls_total", "aws_api_call_errors_total"},
			Alerts: []component.Alert{{
				Name:       "LoadBalancerControllerDown",
				Expression: `absent(up{job="` + balancerName + `"} == 1)`,
				For:        "15m",
				Severity:   "critical", Visibility: "all",
				Summary:     "The aws-load-balancer-controller is down.",
				Description: "Load balancers of Ingresses, and of Services that ask for this controller, do not follow the shoot. Objects of its kinds cannot be changed.",
			}},
		},
	}
}

// balancerPermissions: it reads Secrets of the whole shoot, since an Ingress may name one with the credentials of an OIDC client in its namespace.
func balancerPermissions() rbac.Permissions {
	const balancing, ingresses = "elbv2.k8s.aws", "networking.k8s.io"
	return rbac.Permissions{
		Name: rolePrefix + balancerName, Account: balancerName,
		Rules: []rbacv1.PolicyRule{
			rbac.WatchRule(balancing, "targetgroupbindings", "create", "delete", "patch", "update"),
			rbac.Rule(balancing, "targetgroupbindings/status", "patch", "update"),
			rbac.WatchRule(balancing, "ingressclassparams"),
			rbac.WatchRule(ingresses, "ingressclasses"),
			rbac.WatchRule(ingresses, "ingresses", "patch", "update"),
			rbac.Rule(ingresses, "ingresses/status", "patch", "update"),
			rbac.WatchRule("", "services", "patch", "update"),
			rbac.Rule("", "services/status", "patch", "update"),
			rbac.WatchRule("", "pods"),
			rbac.Rule("", "pods/status", "patch", "update"),
			rbac.WatchRule("", "nodes"),
			rbac.WatchRule("", "namespaces"),
			rbac.WatchRule("", "endpoints"),
			rbac.WatchRule("discovery.k8s.io", "endpointslices"),
			rbac.WatchRule("", "secrets"),
			rbac.Rule("", "configmaps", "get", "create", "update", "delete"),
			rbac.Rule("", "events", "create", "patch"),
			rbac.WatchRule("gateway.networking.k8s.io", "referencegrants"),
		},
		SystemRules: []rbacv1.PolicyRule{
			rbac.Rule("coordination.k8s.io", "leases", "create"),
			rbac.NamedRule("coordination.k8s.io", "leases", []string{balancerName + "-leader"}, "get", "patch", "update"),
		},
	}
}

func (in *inputs) ingressClass() client.Object {
	return &networkingv1.IngressClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "IngressClass"},
		ObjectMeta: metav1.ObjectMeta{Name: in.ingressClassName()},
		Spec:       networkingv1.IngressClassSpec{Controller: "ingress.k8s.aws/alb"},
	}
}
