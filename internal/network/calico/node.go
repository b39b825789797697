package calico

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodeCritical is the priority of pods that a node needs to work.
const nodeCritical = "system-node-critical"

// nodeObjects returns calico-node, which also installs the CNI plugin on each node.
func (s *settings) nodeObjects() ([]client.Object, error) {
	config, err := s.nodeConfig()
	if err != nil {
		return nil, err
	}
	objects := append(nodeAccounts(), config)
	configs := []*corev1.ConfigMap{config}
	if endpoint := s.nodeEndpoint(); endpoint != nil {
		objects, configs = append(objects, endpoint), append(configs, endpoint)
	}
	daemonSet, err := s.calicoNode(configs)
	if err != nil {
		return nil, err
	}
	objects = append(objects, daemonSet, nodeMetricsService(felixMetricsService, felixMetricsPortName, felixMetricsPort))
	if s.exportsBIRD() {
		objects = append(objects, nodeMetricsService(birdMetricsService, birdMetricsPortName, birdMetricsPort))
	}
	return objects, nil
}

func nodeMetricsService(name, port string, number int32) client.Object {
	return serviceOf(name, nodeDaemonSet, corev1.ServicePort{
		Name: port, Port: number, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(number),
	})
}

func (s *settings) calicoNode(configs []*corev1.ConfigMap) (*appsv1.DaemonSet, error) {
	pod, err := s.nodePod()
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		appLabel:                    nodeDaemonSet,
		v1beta1constants.GardenRole: v1beta1constants.GardenRoleSystemComponent,
		// A node accepts pods only when this pod is ready.
		v1beta1constants.LabelNodeCriticalComponent: "true",
	}
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: nodeDaemonSet, Namespace: metav1.NamespaceSystem, Labels: labels, Annotations: s.scaledResources()},
		Spec: appsv1.DaemonSetSpec{
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: nodeDaemonSet}},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(2))},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: nodePodLabels(labels), Annotations: checksums(configs)},
				Spec:       *pod,
			},
		},
	}, nil
}

func nodePodLabels(labels map[string]string) map[string]string {
	all := podLabels(nodeDaemonSet)
	maps.Copy(all, labels)
	return all
}

// checksums returns annotations that replace pods when the configuration changes that they read at their start.
func checksums(configs []*corev1.ConfigMap) map[string]string {
	sums := map[string]string{}
	for _, config := range configs {
		hash := sha256.New()
		for _, key := range slices.Sorted(maps.Keys(config.Data)) {
			fmt.Fprintf(hash, "%s\x00%s\x00", key, config.Data[key])
		}
		sums["checksum/configmap-"+config.Name] = hex.EncodeToString(hash.Sum(nil))
	}
	return sums
}

func (s *settings) nodePod() (*corev1.PodSpec, error) {
	initial, err := s.nodeInitContainers()
	if err != nil {
		return nil, err
	}
	running, err := s.nodeContainers()
	if err != nil {
		return nil, err
	}
	return &corev1.PodSpec{
		ServiceAccountName:            nodeDaemonSet,
		PriorityClassName:             nodeCritical,
		HostNetwork:                   true,
		NodeSelector:                  map[string]string{corev1.LabelOSStable: "linux"},
		Tolerations:                   tolerateEverything(),
		TerminationGracePeriodSeconds: new(int64(0)), // the shorter it is gone the better: the next one starts after it has ended
		SecurityContext:               &corev1.PodSecurityContext{SeccompProfile: runtimeDefault()},
		InitContainers:                initial,
		Containers:                    running,
		Volumes:                       s.nodeVolumes(),
	}, nil
}
