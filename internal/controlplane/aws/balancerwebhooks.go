package aws

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

// balancerWebhooks are those that the load balancer controller serves. Its webhook for Services, which makes it responsible for all of them, is left out:
// without a class, a Service is the cloud-controller-manager's.
//
// A webhook for objects of its own kinds must not be skipped, and one for pods only concerns namespaces that ask for it. Ingresses are also those of other
// controllers: they do without its check while it does not run.
func balancerWebhooks() controlplane.ShootWebhooks {
	never := admissionregistrationv1.SideEffectClassNone
	versions := []string{"v1", "v1beta1"}
	own := func(resource string) []admissionregistrationv1.RuleWithOperations {
		return webhookRules("elbv2.k8s.aws", "v1beta1", resource, admissionregistrationv1.Create, admissionregistrationv1.Update)
	}
	path := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: &path}
	}
	return controlplane.ShootWebhooks{
		Name:      balancerName + "-webhook",
		Component: balancerName,
		Mutating: []admissionregistrationv1.MutatingWebhook{
			{
				Name: "mpod.elbv2.k8s.aws", ClientConfig: path("/mutate-v1-pod"), FailurePolicy: new(admissionregistrationv1.Fail),
				Rules: webhookRules("", "v1", "pods", admissionregistrationv1.Create),
				NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
					Key: "elbv2.k8s.aws/pod-readiness-gate-inject", Operator: metav1.LabelSelectorOpIn, Values: []string{"enabled"},
				}}},
				SideEffects: &never, AdmissionReviewVersions: versions,
			},
			{
				Name: "mtargetgroupbinding.elbv2.k8s.aws", ClientConfig: path("/mutate-elbv2-k8s-aws-v1beta1-targetgroupbinding"),
				FailurePolicy: new(admissionregistrationv1.Fail), Rules: own("targetgroupbindings"), SideEffects: &never, AdmissionReviewVersions: versions,
			},
		},
		Validating: []admissionregistrationv1.ValidatingWebhook{
			{
				Name: "vingressclassparams.elbv2.k8s.aws", ClientConfig: path("/validate-elbv2-k8s-aws-v1beta1-ingressclassparams"),
				FailurePolicy: new(admissionregistrationv1.Fail), Rules: own("ingressclassparams"), SideEffects: &never, AdmissionReviewVersions: versions,
			},
			{
				Name: "vtargetgroupbinding.elbv2.k8s.aws", ClientConfig: path("/validate-elbv2-k8s-aws-v1beta1-targetgroupbinding"),
				FailurePolicy: new(admissionregistrationv1.Fail), Rules: own("targetgroupbindings"), SideEffects: &never, AdmissionReviewVersions: versions,
			},
			{
				Name: "vingress.elbv2.k8s.aws", ClientConfig: path("/validate-networking-v1-ingress"),
				FailurePolicy: new(admissionregistrationv1.Ignore), MatchPolicy: new(admissionregistrationv1.Equivalent),
				Rules:       webhookRules("networking.k8s.io", "v1", "ingresses", admissionregistrationv1.Create, admissionregistrationv1.Update),
				SideEffects: &never, AdmissionReviewVersions: versions,
			},
		},
	}
}

func webhookRules(group, version, resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
	}}
}
