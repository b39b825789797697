package calico

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ladder is cluster-proportional-autoscaler's table of replicas: of the steps {nodes, pods} the last one that the cluster has reached counts.
type ladder struct {
	CoresToReplicas [][2]int `json:"coresToReplicas"`
	NodesToReplicas [][2]int `json:"nodesToReplicas"`
}

// typhaLadder has upstream's figures: two replicas while one could serve all nodes, so that one may fail.
func typhaLadder() ladder {
	return ladder{
		CoresToReplicas: [][2]int{},
		NodesToReplicas: [][2]int{{1, 1}, {2, 2}, {100, 3}, {250, 4}, {500, 5}, {1000, 6}, {1500, 7}, {2000, 8}},
	}
}

// horizontalScaler sets the number of Typha's replicas by the number of nodes.
func (s *settings) horizontalScaler() ([]client.Object, error) {
	const name, account = "calico-typha-horizontal-autoscaler", "typha-cpha"
	configuration, err := scalerConfiguration(name, "ladder", typhaLadder())
	if err != nil {
		return nil, err
	}
	image, err := s.image("calico-cpa")
	if err != nil {
		return nil, err
	}
	pod := scalerPod(configuration, "calico-typha-autoscaler", account, 65532, corev1.Container{
		Image: image,
		Command: []string{
			"/cluster-proportional-autoscaler",
			"--namespace=" + metav1.NamespaceSystem,
			"--configmap=" + name,
			"--target=deployment/" + typhaDeployment,
			"--logtostderr=true",
			"--v=2",
		},
		Resources: within("200Mi", requests("10m", "50Mi")),
	})
	read := policyRule("", []string{"configmaps"}, []string{"get"})
	read.ResourceNames = []string{name}
	scale := policyRule("apps", []string{"deployments/scale"}, []string{"get", "update"})
	scale.ResourceNames = []string{typhaDeployment}

	objects := []client.Object{serviceAccount(account), configuration, deployment(name, "calico-typha-autoscaler", pod)}
	objects = append(objects, clusterGrant(account, []rbacv1.PolicyRule{policyRule("", []string{"nodes"}, []string{"get", "list", "watch"})}, account)...)
	return append(objects, grant(account, []rbacv1.PolicyRule{read, scale}, account)...), nil
}

// growth is cluster-proportional-vertical-autoscaler's rule for how much of a resource a container requests.
type growth struct {
	Base         string `json:"base"`
	Step         string `json:"step"`
	NodesPerStep int    `json:"nodesPerStep"`
	Max          string `json:"max"`
}

// byClusterSize is a workload whose requests grow with the number of nodes.
type byClusterSize struct {
	// name, app, account and key are those of the scaler, its pods, its ServiceAccount and of the key in its ConfigMap.
	name, app, account, key string
	// kind is "daemonset" or "deployment", workload its name.
	kind, workload string
	container      string
	requests       map[corev1.ResourceName]growth
}

// nodeByClusterSize has upstream's figures. The memory of calico-node grows with the cluster: with a fixed limit it fails its probes in large clusters.
func nodeByClusterSize() byClusterSize {
	return byClusterSize{
		name: "calico-node-vertical-autoscaler", app: "calico-node-autoscaler", account: "calico-node-cpva", key: "node-autoscaler",
		kind: "daemonset", workload: nodeDaemonSet, container: nodeDaemonSet,
		requests: map[corev1.ResourceName]growth{
			corev1.ResourceMemory: {Base: "50Mi", Step: "50Mi", NodesPerStep: 10, Max: "1400Mi"},
		},
	}
}

// typhaByClusterSize has upstream's figures, but not its selector, which is also that of the horizontal scaler: gardener-resource-manager counts the
// pods that a Deployment selects, and would wait for the pods of the other Deployment to terminate.
func typhaByClusterSize() byClusterSize {
	return byClusterSize{
		name: "calico-typha-vertical-autoscaler", app: "calico-typha-vertical-autoscaler", account: "typha-cpva", key: "typha-autoscaler",
		kind: "deployment", workload: typhaDeployment, container: typhaName,
		requests: map[corev1.ResourceName]growth{
			corev1.ResourceCPU:    {Base: "180m", Step: "140m", NodesPerStep: 17, Max: "1000m"},
			corev1.ResourceMemory: {Base: "180Mi", Step: "70Mi", NodesPerStep: 17, Max: "2000Mi"},
		},
	}
}

// verticalScaler writes requests into the template of a workload.
func (s *settings) verticalScaler(scaled byClusterSize) ([]client.Object, error) {
	type container struct {
		Requests map[corev1.ResourceName]growth `json:"requests"`
	}
	configuration, err := scalerConfiguration(scaled.name, scaled.key, map[string]container{scaled.container: {scaled.requests}})
	if err != nil {
		return nil, err
	}
	image, err := s.image("calico-cpva")
	if err != nil {
		return nil, err
	}
	pod := scalerPod(configuration, scaled.app, scaled.account, nobody, corev1.Container{
		Image: image,
		Command: []string{
			"/cpvpa",
			"--target=" + scaled.kind + "/" + scaled.workload,
			"--namespace=" + metav1.NamespaceSystem,
			"--logtostderr=true",
			"--poll-period-seconds=30",
			"--v=2",
			"--config-file=/etc/config/" + scaled.key,
		},
		Resources:    within("200Mi", requests("10m", "50Mi")),
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config", ReadOnly: true}},
	})
	pod.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: scaled.name}},
	}}}
	patch := policyRule("apps", []string{scaled.kind + "s"}, []string{"patch"})
	patch.ResourceNames = []string{scaled.workload}

	scaler := deployment(scaled.name, scaled.app, pod)
	// A Deployment that upstream's extension created may have another selector, which is immutable. Recreating it loses nothing.
	scaler.Annotations = map[string]string{resourcesv1alpha1.DeleteOnInvalidUpdate: "true"}
	objects := []client.Object{serviceAccount(scaled.account), configuration, scaler}
	objects = append(objects, clusterGrant(scaled.account, []rbacv1.PolicyRule{policyRule("", []string{"nodes"}, []string{"list"})}, scaled.account)...)
	return append(objects, grant(scaled.account, []rbacv1.PolicyRule{patch}, scaled.account)...), nil
}

// scalerConfiguration returns the ConfigMap of a scaler, with one key.
func scalerConfiguration(name, key string, content any) (*corev1.ConfigMap, error) {
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem},
		Data:       map[string]string{key: string(encoded)},
	}, nil
}

// scalerPod runs a scaler. A changed configuration replaces the pod.
func scalerPod(configuration *corev1.ConfigMap, app, account string, user int64, container corev1.Container) corev1.PodTemplateSpec {
	container.Name = "autoscaler"
	container.ImagePullPolicy = corev1.PullIfNotPresent
	container.SecurityContext = unprivileged()
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      podLabels(app),
			Annotations: map[string]string{"checksum/configmap-" + configuration.Name: checksum(configuration.Data)},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: account,
			PriorityClassName:  clusterCritical,
			// CoreDNS needs the network that this pod scales, so the pod does not use it.
			DNSPolicy:    corev1.DNSDefault,
			NodeSelector: map[string]string{corev1.LabelOSStable: "linux"},
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(user), FSGroup: new(user), SeccompProfile: runtimeDefault(),
			},
			Containers: []corev1.Container{container},
		},
	}
}

func checksum(data map[string]string) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		hash.Write([]byte(key + "\x00" + data[key] + "\x00"))
	}
	return hex.EncodeToString(hash.Sum(nil))
}
