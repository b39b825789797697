package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// MachinesInAWS describes the machines of a pool with encrypted volumes as provider-aws does, from an AMI. The inputs of the hash are the caller's.
func MachinesInAWS(shoot *gardenlet.Shoot, pool extensionsv1alpha1.WorkerPool, ami string, hashData []string) (Machines, error) {
	machines := Machines{Provider: "AWS", HashData: hashData}
	known, isJSON := shoot.InfrastructureStatus.(json.RawMessage)
	if !isJSON {
		return machines, errors.New("there is no infrastructure")
	}
	var site awsv1alpha1.InfrastructureStatus
	if err := json.Unmarshal(known, &site); err != nil {
		return machines, fmt.Errorf("reading what the Infrastructure says: %w", err)
	}
	tags := map[string]string{"kubernetes.io/cluster/" + shoot.Namespace(): "1", "kubernetes.io/role/node": "1"}
	maps.Copy(tags, pool.Labels)
	devices, err := devicesInAWS(pool)
	if err != nil {
		return machines, err
	}
	for _, zone := range pool.Zones {
		subnet := site.VPC.FindSubnet(awsv1alpha1.PurposeNodes, zone)
		if subnet == nil {
			return machines, fmt.Errorf("zone %s has no subnet of nodes", zone)
		}
		machines.Zones = append(machines.Zones, MachineZone{
			Name:        zone,
			ClassLabels: map[string]string{"failure-domain.beta.kubernetes.io/zone": zone},
			NodeLabels:  map[string]string{"topology.ebs.csi.aws.com/zone": zone, "topology.kubernetes.io/zone": zone},
			Spec: map[string]any{
				"ami": ami, "region": shoot.Region, "machineType": pool.MachineType, "srcAndDstChecksEnabled": false,
				"iam": map[string]any{"name": site.IAM.InstanceProfiles[0].Name}, "keyName": site.EC2.KeyName, "tags": tags, "blockDevices": devices,
				"networkInterfaces":       []map[string]any{{"subnetID": subnet.ID, "securityGroupIDs": []string{site.VPC.SecurityGroups[0].ID}}},
				"instanceMetadataOptions": map[string]any{"httpTokens": "required", "httpPutResponseHopLimit": 2},
			},
		})
	}
	return machines, nil
}

// devicesInAWS are the volumes of a machine: the root volume has a name if there are others, which are in the order of their names.
func devicesInAWS(pool extensionsv1alpha1.WorkerPool) (devices []map[string]any, err error) {
	config, err := awsv1alpha1.DecodeWorkerConfig(pool.ProviderConfig)
	if err != nil || pool.Volume == nil {
		return nil, fmt.Errorf("reading the volumes of pool %s: %w", pool.Name, err)
	}
	add := func(device, size string, volumeType *string, more map[string]any) {
		amount, parseErr := resource.ParseQuantity(size)
		err = errors.Join(err, parseErr)
		ebs := map[string]any{"volumeSize": amount.Value() >> 30, "volumeType": volumeType, "encrypted": true, "deleteOnTermination": true}
		maps.Copy(ebs, more)
		devices = append(devices, map[string]any{"deviceName": device, "ebs": ebs})
	}
	performance := func(iops, throughput *int32) map[string]any {
		values := map[string]any{}
		if iops != nil {
			values["iops"] = *iops
		}
		if throughput != nil {
			values["throughput"] = *throughput
		}
		return values
	}
	root, performanceOfRoot := "", map[string]any{}
	if len(pool.DataVolumes) > 0 {
		root = "/root"
	}
	if config.Volume != nil {
		performanceOfRoot = performance(config.Volume.IOPS, config.Volume.Throughput)
	}
	add(root, pool.Volume.Size, pool.Volume.Type, performanceOfRoot)
	volumes := slices.SortedFunc(slices.Values(pool.DataVolumes), func(a, b extensionsv1alpha1.DataVolume) int { return strings.Compare(a.Name, b.Name) })
	for i, volume := range volumes {
		var more map[string]any
		if given := config.FindDataVolume(volume.Name); given != nil {
			more = performance(given.IOPS, given.Throughput)
		}
		add("/dev/sd"+string(rune('f'+i)), volume.Size, volume.Type, more)
	}
	return devices, err
}
