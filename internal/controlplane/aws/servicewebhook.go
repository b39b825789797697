package aws

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

// Annotations of Services. The first ones are the load balancer controller's, the last two are upstream's.
const (
	balancerAnnotation       = "service.beta.kubernetes.io/aws-load-balancer-"
	balancerType             = balancerAnnotation + "type"
	balancerScheme           = balancerAnnotation + "scheme"
	balancerInternal         = balancerAnnotation + "internal" // the cloud-controller-manager's form of the scheme
	balancerAddressType      = balancerAnnotation + "ip-address-type"
	balancerTargetType       = balancerAnnotation + "nlb-target-type"
	annotationIgnoreBalancer = "extensions.gardener.cloud/ignore-load-balancer"
	annotationOldBalancer    = "gardener.cloud/old-load-balancer-name"
)

const (
	// balancerClass is the class of the load balancer controller.
	balancerClass = "service.k8s.aws/nlb"
	// external is the type by which the cloud-controller-manager leaves a Service to the load balancer controller.
	external = "external"
	// cleanupFinalizer is on a Service as soon as the cloud-controller-manager is about to create a load balancer for it.
	cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup"
)

var _ controlplane.ServiceTuner = (*Driver)(nil)

// tunesServices reports whether new Services get load balancers with IPv6 addresses, which only the load balancer controller creates. While a shoot
// is migrated to two families, its nodes and its DNS have none yet.
func (in *inputs) tunesServices() bool {
	return in.hasFamily(gardencorev1beta1.IPFamilyIPv6) && in.balancesLoad() && !in.migratesFamilies
}

// migratesFamilies reports whether the second IP family of a shoot is not in use yet.
func migratesFamilies(shoot *gardencorev1beta1.Shoot) bool {
	return slices.ContainsFunc(shoot.Status.Constraints, func(constraint gardencorev1beta1.Condition) bool {
		ofMigration := constraint.Type == gardencorev1beta1.ShootDualStackNodesMigrationReady || constraint.Type == gardencorev1beta1.ShootDNSServiceMigrationReady
		return ofMigration && constraint.Status != gardencorev1beta1.ConditionTrue
	})
}

// serviceWebhook is called for Services of the type LoadBalancer, and for no others. Without it, users can write the annotations themselves, so it never
// prevents a write, and delays one by a few seconds at most.
func serviceWebhook() controlplane.ShootWebhooks {
	rules := webhookRules("", "v1", "services", admissionregistrationv1.Create, admissionregistrationv1.Update)
	rules[0].Scope = new(admissionregistrationv1.NamespacedScope)
	return controlplane.ShootWebhooks{
		Name: "gardener-extension-provider-aws-services",
		Mutating: []admissionregistrationv1.MutatingWebhook{{
			Name:         "services.aws.extensions.gardener.cloud",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new(controlplane.ServiceWebhookPath(Type))},
			Rules:        rules,
			MatchConditions: []admissionregistrationv1.MatchCondition{
				{Name: "load-balancer", Expression: `object.spec.type == "LoadBalancer"`},
			},
			FailurePolicy:           new(admissionregistrationv1.Ignore),
			MatchPolicy:             new(admissionregistrationv1.Equivalent),
			ReinvocationPolicy:      new(admissionregistrationv1.NeverReinvocationPolicy),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          new(int32(5)),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// TuneService implements controlplane.ServiceTuner: a new load balancer has addresses of both families. One that exists keeps its address: it is marked,
// and whoever removes the mark gets a new load balancer. What the user has chosen stays.
func (d *Driver) TuneService(service, old *corev1.Service) {
	if !wantsDualStack(service) {
		return
	}
	switch existing := old != nil && old.Spec.Type == corev1.ServiceTypeLoadBalancer; {
	case service.Annotations[annotationIgnoreBalancer] == "true" || existing && old.Annotations[balancerType] == external:
	case existing && old.Annotations[annotationIgnoreBalancer] == "true":
		setMissing(service, annotationOldBalancer, hostnameOf(old))
		setDualStack(service)
	case existing && hasBalancer(old):
		setMissing(service, annotationIgnoreBalancer, "true")
	default:
		setDualStack(service)
	}
}

// wantsDualStack is false for Services that users leave to the cloud-controller-manager or to another controller, and for internal ones.
func wantsDualStack(service *corev1.Service) bool {
	class, kind := service.Spec.LoadBalancerClass, service.Annotations[balancerType]
	internal := service.Annotations[balancerScheme] == "internal" || isTrue(service.Annotations[balancerInternal])
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.DeletionTimestamp.IsZero() && !internal &&
		(class == nil || *class == balancerClass) && (kind == "" || kind == external)
}

func isTrue(value string) bool { return value == "true" || value == "0.0.0.0/0" }

// hasBalancer reports whether a load balancer was created for a Service, or is being created.
func hasBalancer(service *corev1.Service) bool {
	return len(service.Status.LoadBalancer.Ingress) > 0 || slices.Contains(service.Finalizers, cleanupFinalizer)
}

func hostnameOf(service *corev1.Service) string {
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		if ingress.Hostname != "" {
			return ingress.Hostname
		}
	}
	return ""
}

func setDualStack(service *corev1.Service) {
	setMissing(service, balancerType, external)
	setMissing(service, balancerScheme, "internet-facing")
	setMissing(service, balancerTargetType, "instance")
	setMissing(service, balancerAddressType, "dualstack")
}

// setMissing sets an annotation that the user has not set. An empty value sets none.
func setMissing(service *corev1.Service, annotation, value string) {
	if _, exists := service.Annotations[annotation]; !exists && value != "" {
		metav1.SetMetaDataAnnotation(&service.ObjectMeta, annotation, value)
	}
}
