package worker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/trellis-garden/trellis/internal/cloud"
)

const (
	// userDataKey is the key of user data in the Secret of a class.
	userDataKey = "userData"
	// The labels of a class that describe the operating system of its machines.
	labelOperatingSystemName    = "operatingSystemName"
	labelOperatingSystemVersion = "operatingSystemVersion"
)

// deploymentsOf returns the desired state of each pool in each of its zones, in the order of pools and zones. It is pure, and shares no
// memory with shoot or pools.
func deploymentsOf(shoot *Shoot, pools []pool) ([]deployment, error) {
	var all []deployment
	for i := range pools {
		ofPool, err := deploymentsOfPool(shoot, &pools[i])
		if err != nil {
			return nil, fmt.Errorf("planning the machines of pool %q: %w", pools[i].Name, err)
		}
		all = append(all, ofPool...)
	}
	return all, nil
}

func deploymentsOfPool(shoot *Shoot, p *pool) ([]deployment, error) {
	if len(p.Zones) == 0 && !shoot.Deleting {
		return nil, cloud.Errorf(cloud.Configuration, "the pool has no zones: set at least one")
	}
	if len(p.machines.Classes) != len(p.Zones) {
		return nil, fmt.Errorf("the driver has %d classes for %d zones", len(p.machines.Classes), len(p.Zones))
	}
	names, err := classNames(shoot.TechnicalID, &p.WorkerPool, shoot.Cluster.Shoot, p.machines)
	if err != nil {
		return nil, err
	}
	deployments := make([]deployment, len(p.Zones))
	for zone := range p.Zones {
		if deployments[zone], err = deploymentOf(shoot, p, zone, names[zone]); err != nil {
			return nil, err
		}
	}
	return deployments, nil
}

func deploymentOf(shoot *Shoot, p *pool, zone int, class string) (deployment, error) {
	object, err := deploymentObject(shoot, p, zone, class)
	if err != nil {
		return deployment{}, err
	}
	spec, err := json.Marshal(p.machines.Classes[zone].ProviderSpec)
	if err != nil {
		return deployment{}, fmt.Errorf("encoding the providerSpec of class %q: %w", class, err)
	}
	at, zones := int32(zone), int32(len(p.Zones))
	return deployment{
		pool:     p.Name,
		minimum:  distribute(at, p.Minimum, zones),
		maximum:  distribute(at, p.Maximum, zones),
		priority: clone(p.Priority),
		class:    classObject(shoot, p, zone, class, spec),
		secret:   classSecret(shoot, p, class),
		object:   object,
	}, nil
}

func classObject(shoot *Shoot, p *pool, zone int, name string, providerSpec []byte) *machinev1alpha1.MachineClass {
	credentials := shoot.Worker.Spec.SecretRef
	meta := classMeta(shoot, name)
	maps.Copy(meta.Labels, operatingSystemLabels(p))
	meta.Labels = union(p.machines.Classes[zone].Labels, meta.Labels)
	return &machinev1alpha1.MachineClass{
		ObjectMeta:           meta,
		Provider:             p.machines.Classes[zone].Provider,
		ProviderSpec:         runtime.RawExtension{Raw: providerSpec},
		CredentialsSecretRef: &credentials,
		SecretRef:            &corev1.SecretReference{Name: name, Namespace: shoot.Worker.Namespace},
		NodeTemplate:         nodeTemplate(shoot, p, zone),
	}
}

func classSecret(shoot *Shoot, p *pool, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: classMeta(shoot, name),
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{userDataKey: slices.Clone(p.userData)},
	}
}

// classMeta includes the purpose, by which gardenlet finds the Secrets of classes, and the mark of ownership.
func classMeta(shoot *Shoot, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: shoot.Worker.Namespace,
		Labels: map[string]string{
			v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass,
			ownerLabel:                       shoot.Worker.Name,
		},
	}
}

// operatingSystemLabels describe the operating system of the machines of a class in Gardener's terms, for metrics. What is not a valid
// value of a label is omitted.
func operatingSystemLabels(p *pool) map[string]string {
	labels := map[string]string{
		labelOperatingSystemName:    p.MachineImage.Name,
		labelOperatingSystemVersion: strings.ReplaceAll(p.MachineImage.Version, "+", "_"),
	}
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" || len(validation.IsValidLabelValue(value)) > 0 })
	return labels
}

// nodeTemplate is nil if the resources of a node are unknown, as for machine types that were removed from the cloud profile: the
// cluster-autoscaler then reads a node of the pool. The driver's amounts take precedence over the pool's.
func nodeTemplate(shoot *Shoot, p *pool, zone int) *machinev1alpha1.NodeTemplate {
	template := p.machines.Classes[zone].NodeTemplate.DeepCopy()
	if p.NodeTemplate != nil {
		template.Capacity = overlay(p.NodeTemplate.Capacity, template.Capacity)
		template.VirtualCapacity = overlay(p.NodeTemplate.VirtualCapacity, template.VirtualCapacity)
	}
	if len(template.Capacity) == 0 && len(template.VirtualCapacity) == 0 {
		return nil
	}
	if template.Capacity == nil {
		template.Capacity = corev1.ResourceList{} // the API requires an object
	}
	fillIn(&template.InstanceType, p.MachineType)
	fillIn(&template.Region, shoot.Worker.Spec.Region)
	fillIn(&template.Zone, p.Zones[zone])
	if template.Architecture == nil {
		architecture := v1beta1constants.ArchitectureAMD64
		if p.Architecture != nil {
			architecture = *p.Architecture
		}
		template.Architecture = &architecture
	}
	return template
}

func overlay(below, above corev1.ResourceList) corev1.ResourceList {
	if len(below) == 0 {
		return above
	}
	both := below.DeepCopy()
	maps.Copy(both, above)
	return both
}

func fillIn(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

func clone[T any](value *T) *T {
	if value == nil {
		return nil
	}
	copied := *value
	return &copied
}
