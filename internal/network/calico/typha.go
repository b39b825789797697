package calico

import (
	"maps"
	"strconv"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

const (
	// typhaName is the name of Typha's Service, by which nodes look it up, and of most of its other objects.
	typhaName = "calico-typha"
	// typhaDeployment is upstream's name for the Deployment.
	typhaDeployment = "calico-typha-deploy"
	typhaPort       = 5473
	typhaHealthPort = 9098
	// typhaFarewell is how many seconds Typha has to disconnect its nodes, a few at a time, when it terminates.
	typhaFarewell = 300
	// nobody is the ID of a user who owns nothing.
	nobody = 65534
)

// typhaObjects returns Typha, without its autoscalers (see autoscalingObjects).
func (s *settings) typhaObjects() ([]client.Object, error) {
	if !s.form.Typha {
		return nil, nil
	}
	deployment, err := s.typhaDeployment()
	if err != nil {
		return nil, err
	}
	objects := []client.Object{
		serviceAccount(typhaName),
		deployment,
		serviceOf(typhaName, typhaName, corev1.ServicePort{
			Name: typhaName, Port: typhaPort, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString(typhaName),
		}),
		serviceOf(typhaMetricsService, typhaName, corev1.ServicePort{
			Name: typhaMetricsPortName, Port: typhaMetricsPort, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(typhaMetricsPort),
		}),
		disruptionBudget(typhaName, typhaName),
	}
	return append(objects, clusterGrant(typhaName, typhaRules(), typhaName)...), nil
}

func (s *settings) typhaDeployment() (*appsv1.Deployment, error) {
	image, err := s.image("calico-typha")
	if err != nil {
		return nil, err
	}
	result := deployment(typhaDeployment, typhaName, corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      podLabels(typhaName),
			Annotations: map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
		},
		Spec: s.typhaPod(image),
	})
	// The horizontal scaler sets the replicas, from the first on.
	result.Spec.Replicas = nil
	result.Annotations = map[string]string{resourcesv1alpha1.PreserveReplicas: "true"}
	maps.Copy(result.Annotations, s.scaledResources())
	// All new pods may start before the old ones terminate, so that nodes reconnect once. Where no other node has room, one must terminate first: its
	// port is in use.
	result.Spec.Strategy = appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxSurge: new(intstr.FromString("100%")), MaxUnavailable: new(intstr.FromInt32(1)),
		},
	}
	return result, nil
}

// typhaPod uses the network of its node: pods have no network before nodes have received data from Typha.
func (s *settings) typhaPod(image string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            typhaName,
		PriorityClassName:             clusterCritical,
		HostNetwork:                   true,
		DNSPolicy:                     corev1.DNSDefault,
		TerminationGracePeriodSeconds: new(int64(typhaFarewell)),
		NodeSelector:                  map[string]string{corev1.LabelOSStable: "linux"},
		Tolerations:                   tolerateEverything(),
		TopologySpreadConstraints:     spread(typhaName, corev1.LabelTopologyZone, corev1.LabelHostname),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(nobody)), FSGroup: new(int64(nobody)), SeccompProfile: runtimeDefault(),
		},
		Containers: []corev1.Container{{
			Name:            typhaName,
			Image:           image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Env:             s.typhaEnv(),
			Ports: []corev1.ContainerPort{
				{Name: typhaName, ContainerPort: typhaPort, Protocol: corev1.ProtocolTCP},
				{Name: typhaMetricsPortName, ContainerPort: typhaMetricsPort, Protocol: corev1.ProtocolTCP},
			},
			Resources:       s.typhaResources(),
			SecurityContext: unprivileged(),
			LivenessProbe:   typhaProbe("/liveness", 30, 30),
			ReadinessProbe:  typhaProbe("/readiness", 0, 10),
		}},
	}
}

func (s *settings) typhaEnv() []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "TYPHA_DATASTORETYPE", Value: "kubernetes"},
		{Name: "TYPHA_LOGSEVERITYSCREEN", Value: "info"},
		{Name: "TYPHA_LOGFILEPATH", Value: "none"},
		{Name: "TYPHA_LOGSEVERITYSYS", Value: "none"},
		{Name: "TYPHA_CONNECTIONREBALANCINGMODE", Value: "kubernetes"},
		{Name: "TYPHA_HEALTHENABLED", Value: "true"},
		{Name: "TYPHA_PROMETHEUSMETRICSENABLED", Value: "true"},
		{Name: "TYPHA_PROMETHEUSMETRICSPORT", Value: strconv.Itoa(typhaMetricsPort)},
		{Name: "TYPHA_SHUTDOWNTIMEOUTSECS", Value: strconv.Itoa(typhaFarewell)},
	}
	if s.form.typhaIPAM() == calicov1alpha1.IPAMHostLocal {
		// Then the blocks of addresses are the ranges of nodes.
		env = append(env, corev1.EnvVar{Name: "USE_POD_CIDR", Value: "true"})
	}
	if s.form.BPF && !s.kubeProxy {
		// Nothing routes the kube-apiserver's Service before calico-node does, and calico-node waits for Typha.
		env = append(env,
			corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: s.apiServerHost},
			corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: strconv.Itoa(s.apiServerPort)},
		)
	}
	return env
}

func typhaProbe(path string, delay, period int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Host: "localhost", Path: path, Port: intstr.FromInt32(typhaHealthPort),
		}},
		InitialDelaySeconds: delay, PeriodSeconds: period, TimeoutSeconds: 10,
	}
}

// spread distributes the pods of one revision of an app: the skew may be one, and a pod without a better node is scheduled all the same.
func spread(app string, topologies ...string) []corev1.TopologySpreadConstraint {
	constraints := make([]corev1.TopologySpreadConstraint, 0, len(topologies))
	for _, topology := range topologies {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			MaxSkew:           1,
			TopologyKey:       topology,
			WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: app}},
			MatchLabelKeys:    []string{appsv1.DefaultDeploymentUniqueLabelKey},
		})
	}
	return constraints
}
