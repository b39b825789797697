package aws

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	awsmachine "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
	"github.com/trellis-garden/trellis/internal/worker"
)

// labelStorageZone is the label of nodes by which volumes of older shoots find their zone. Newer ones use that of Kubernetes.
const labelStorageZone = "topology.ebs.csi.aws.com/zone"

// plan has all inputs of the machines of a pool.
type plan struct {
	in     *inputs
	pool   *extensionsv1alpha1.WorkerPool
	config *awsv1alpha1.WorkerConfig
	// hashesFields is true if the fields of the config are inputs of the hash, and not its bytes.
	hashesFields  bool
	image         *awsv1alpha1.MachineImage
	blockDevices  []awsmachine.BlockDevice
	profile       awsmachine.InstanceProfile
	securityGroup string
	// subnets are the IDs of the subnets of the pool's zones.
	subnets []string
}

// planOf returns the plan of a pool. In a deletion missing inputs are accepted, since no machine is created.
func (in *inputs) planOf(pool *extensionsv1alpha1.WorkerPool, recorded *awsv1alpha1.WorkerStatus) (*plan, error) {
	p := &plan{in: in, pool: pool, config: &awsv1alpha1.WorkerConfig{}, image: &awsv1alpha1.MachineImage{AMI: unknown}}
	err := cmp.Or(p.readConfig(), p.readImage(recorded), p.readVolumes(), p.readNetwork(), p.readProfile())
	if err != nil && !in.shoot.Deleting {
		return nil, err
	}
	return p, nil
}

func (p *plan) readConfig() error {
	config, err := awsv1alpha1.DecodeWorkerConfig(p.pool.ProviderConfig)
	if err != nil {
		return fmt.Errorf("reading the providerConfig of pool %q: %w", p.pool.Name, err)
	}
	for i, given := range config.NetworkInterfaces {
		if cards := given.NetworkCardIndexRange; cards != nil && cards.To-cards.From >= validation.MaxInterfaces {
			return fmt.Errorf("network interface %d of pool %q is on too many network cards", i+1, p.pool.Name)
		}
	}
	p.config = config
	p.hashesFields, err = hashesFields(p.pool)
	return err
}

func (p *plan) readImage(recorded *awsv1alpha1.WorkerStatus) error {
	image, err := p.in.imageOf(p.pool, recorded)
	if err == nil {
		p.image = image
	}
	return err
}

func (p *plan) readVolumes() (err error) {
	if p.blockDevices, err = p.newBlockDevices(); err != nil {
		return fmt.Errorf("planning the volumes of pool %q: %w", p.pool.Name, err)
	}
	return nil
}

func (p *plan) readNetwork() (err error) {
	for _, zone := range p.pool.Zones {
		subnet, missing := p.in.subnet(zone)
		p.subnets, err = append(p.subnets, subnet), cmp.Or(err, missing)
	}
	group, missing := p.in.securityGroup()
	p.securityGroup = group
	return cmp.Or(err, missing)
}

// readProfile takes the instance profile of the pool, or else the shoot's.
func (p *plan) readProfile() (err error) {
	switch given := p.config.IAMInstanceProfile; {
	case given == nil:
		p.profile.Name, err = p.in.instanceProfile()
	case given.Name != nil:
		p.profile.Name = *given.Name
	default:
		p.profile.ARN = value(given.ARN)
	}
	return err
}

// machines describes the machines. Their classes are named by the data volumes in the order of the Worker. Upstream names them so, too, but sorts the volumes
// when it reconciles an object twice, as in a restore.
func (p *plan) machines() (*worker.Machines, error) {
	classes, err := p.classes()
	if err != nil {
		return nil, fmt.Errorf("encoding the machine classes of pool %q: %w", p.pool.Name, err)
	}
	machines := p.machinesNamedBy(p.pool.DataVolumes, classes)
	if sorted := p.sortedDataVolumes(); !equality.Semantic.DeepEqual(sorted, p.pool.DataVolumes) {
		machines.UpstreamMachines = &worker.UpstreamMachines{
			Machines: *p.machinesNamedBy(sorted, classes),
			Message:  fmt.Sprintf("the machine classes of pool %s are named by the order of its data volumes when its nodes are replaced", p.pool.Name),
		}
	}
	return machines, nil
}

func (p *plan) machinesNamedBy(volumes []extensionsv1alpha1.DataVolume, classes []worker.Class) *worker.Machines {
	data := p.hashData(volumes)
	return &worker.Machines{HashData: data.values, HashDataNames: data.names, HashDataInPlace: p.hashDataInPlace(), Classes: classes}
}

func (p *plan) classes() ([]worker.Class, error) {
	var classes []worker.Class
	for i, zone := range p.pool.Zones {
		spec, err := encode(p.spec(p.subnets[i]))
		if err != nil {
			return nil, err
		}
		classes = append(classes, worker.Class{
			Provider:     awsmachine.Provider,
			ProviderSpec: spec,
			NodeTemplate: p.nodeTemplate(),
			// The cluster-autoscaler reads the zone of a class without a node template from it.
			Labels:     map[string]string{corev1.LabelFailureDomainBetaZone: zone},
			NodeLabels: map[string]string{labelStorageZone: zone, corev1.LabelTopologyZone: zone},
		})
	}
	return classes, nil
}

// sortedDataVolumes are the data volumes in the order of their names, which is that of their device names.
func (p *plan) sortedDataVolumes() []extensionsv1alpha1.DataVolume {
	return slices.SortedStableFunc(slices.Values(p.pool.DataVolumes), func(a, b extensionsv1alpha1.DataVolume) int { return strings.Compare(a.Name, b.Name) })
}

// nodeTemplate has the user's values. The contract adds those of the pool.
func (p *plan) nodeTemplate() machinev1alpha1.NodeTemplate {
	if p.config.NodeTemplate == nil {
		return machinev1alpha1.NodeTemplate{}
	}
	return machinev1alpha1.NodeTemplate{
		Capacity: p.config.NodeTemplate.Capacity.DeepCopy(), VirtualCapacity: p.config.NodeTemplate.VirtualCapacity.DeepCopy(),
	}
}
