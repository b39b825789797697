package ec2

import (
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The states of instances.
const (
	instancePending      = "pending"
	instanceRunning      = "running"
	instanceShuttingDown = "shutting-down"
	instanceTerminated   = "terminated"
)

type instance struct {
	meta

	reservationID, token, request            string // the request is that of the token
	imageID, rootDevice, kind, keyName, zone string
	profileARN, profileID                    string
	vpcID, subnetID, hostnameType            string
	market, userData                         string
	placement, metadataOptions, cpuOptions   protocol.Struct
	ebsOptimized, monitoring                 bool
	state, reasonCode, reasonMessage         string
	launched                                 time.Time
}

func (s *Service) newInstances() *collection[*instance] {
	return &collection[*instance]{
		kind: "instance", ids: "InstanceIds", answer: "Reservations", view: s.viewInstanceReservation,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
		},
		filters: map[string]func(*instance) []string{
			"instance-id":              one(func(i *instance) string { return i.id }),
			"instance-state-name":      one(func(i *instance) string { return i.state }),
			"instance-type":            one(func(i *instance) string { return i.kind }),
			"instance-lifecycle":       one(func(i *instance) string { return i.market }),
			"image-id":                 one(func(i *instance) string { return i.imageID }),
			"key-name":                 one(func(i *instance) string { return i.keyName }),
			"client-token":             one(func(i *instance) string { return i.token }),
			"iam-instance-profile.arn": one(func(i *instance) string { return i.profileARN }),
			"vpc-id":                   one(func(i *instance) string { return i.vpcID }),
			"subnet-id":                one(func(i *instance) string { return i.subnetID }),
			"availability-zone":        one(func(i *instance) string { return i.zone }),
			"private-dns-name":         one(s.privateDNSName),
			"private-ip-address":       one(func(i *instance) string { return s.primaryAddress(i) }),
			"reservation-id":           one(func(i *instance) string { return i.reservationID }),
			"owner-id":                 one(func(*instance) string { return s.owner() }),
		},
	}
}

func (s *Service) instanceActions() map[string]core.Action {
	return map[string]core.Action{
		"RunInstances": {
			Reads: "ImageId InstanceType MinCount MaxCount KeyName UserData IamInstanceProfile NetworkInterfaces BlockDeviceMappings TagSpecifications EbsOptimized " +
				"Monitoring Placement MetadataOptions CpuOptions InstanceMarketOptions CapacityReservationSpecification",
			Do: s.runInstances, OwnTokens: true,
		},
		"DescribeInstances":        describing(s, s.instances),
		"TerminateInstances":       {Reads: "InstanceIds", Do: s.terminateInstances},
		"DescribeInstanceTopology": {Reads: "InstanceIds MaxResults NextToken", Do: s.describeTopology},
	}
}

// interfacesWith returns the interfaces of an instance.
func (s *Service) interfacesWith(instanceID string) []*networkInterface {
	return s.interfaces.where(func(i *networkInterface) bool { return i.instanceID() == instanceID })
}

func (s *Service) primaryAddress(i *instance) string {
	for _, one := range s.interfacesWith(i.id) {
		if one.attachment.index == 0 && one.attachment.card == 0 && one.address.IsValid() {
			return one.address.String()
		}
	}
	return ""
}

// privateDNSName is the name that the instance's node has. A terminated instance has none.
func (s *Service) privateDNSName(i *instance) string {
	domain := s.core.Config.Region + ".compute.internal"
	if s.core.Config.Region == "us-east-1" {
		domain = "ec2.internal"
	}
	address := s.primaryAddress(i)
	switch {
	case i.state == instanceTerminated:
		return ""
	case i.hostnameType == "resource-name":
		return i.id + "." + domain
	case address == "":
		return ""
	}
	return "ip-" + strings.ReplaceAll(address, ".", "-") + "." + domain
}

// stateCodes are the numbers of states in responses.
func stateView(state string) protocol.Struct {
	codes := map[string]int64{instancePending: 0, instanceRunning: 16, instanceShuttingDown: 32, instanceTerminated: 48}
	return protocol.Struct{"Name": state, "Code": codes[state]}
}

func (s *Service) viewInstanceReservation(i *instance) protocol.Struct {
	return protocol.Struct{"ReservationId": i.reservationID, "OwnerId": s.owner(), "Groups": []any{}, "Instances": []any{s.viewInstance(i)}}
}

func (s *Service) viewInstance(i *instance) protocol.Struct {
	interfaces, devices := []any{}, []any{}
	groups, publicIP := []any{}, any(nil)
	for _, one := range s.interfacesWith(i.id) {
		view := s.viewInstanceInterface(one)
		interfaces = append(interfaces, view)
		if one.attachment.index == 0 {
			groups, _ = view["Groups"].([]any)
			publicIP = protocol.OrNil(one.publicIP)
		}
	}
	for _, v := range s.volumes.where(func(v *volume) bool { return v.instanceID == i.id }) {
		devices = append(devices, protocol.Struct{"DeviceName": v.device, "Ebs": protocol.Struct{
			"VolumeId": v.id, "Status": "attached", "DeleteOnTermination": !v.keep, "AttachTime": v.created,
		}})
	}
	view := protocol.Struct{
		"InstanceId": i.id, "ImageId": i.imageID, "InstanceType": protocol.Undeclared(i.kind), "KeyName": protocol.OrNil(i.keyName), "ClientToken": i.token,
		"State": stateView(i.state), "LaunchTime": i.launched, "AmiLaunchIndex": int64(0), "Architecture": "x86_64", "Hypervisor": "xen", "VirtualizationType": "hvm",
		"RootDeviceName": i.rootDevice, "RootDeviceType": "ebs", "EbsOptimized": i.ebsOptimized, "Monitoring": protocol.Struct{"State": monitoringState(i.monitoring)},
		"Placement": i.placement, "MetadataOptions": i.metadataOptions, "CpuOptions": i.cpuOptions, "InstanceLifecycle": protocol.OrNil(i.market),
		"PrivateDnsName": s.privateDNSName(i), "PrivateIpAddress": protocol.OrNil(s.primaryAddress(i)), "PublicIpAddress": publicIP,
		"NetworkInterfaces":   interfaces,
		"BlockDeviceMappings": devices, "SecurityGroups": groups, "Tags": i.tagList(),
	}
	if i.reasonCode != "" {
		view["StateReason"] = protocol.Struct{"Code": i.reasonCode, "Message": i.reasonMessage}
	}
	if i.profileARN != "" {
		view["IamInstanceProfile"] = protocol.Struct{"Arn": i.profileARN, "Id": i.profileID}
	}
	if i.state != instanceTerminated {
		view["VpcId"], view["SubnetId"] = i.vpcID, i.subnetID
	}
	return view
}

func monitoringState(on bool) string {
	if on {
		return "enabled"
	}
	return "disabled"
}

// terminateInstances starts the end of instances, or of none if one of them does not exist.
func (s *Service) terminateInstances(q *core.Request) (protocol.Struct, error) {
	var instances []*instance
	for _, id := range q.In.Strings("InstanceIds") {
		i, err := s.instances.get(id)
		if err != nil {
			return nil, err
		}
		instances = append(instances, i)
	}
	changes := []any{}
	for _, i := range instances {
		before := i.state
		s.endInstance(i, "Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown")
		changes = append(changes, protocol.Struct{"InstanceId": i.id, "PreviousState": stateView(before), "CurrentState": stateView(i.state)})
	}
	return protocol.Struct{"TerminatingInstances": changes}, nil
}

// endInstance starts the end of an instance. Its interfaces and volumes stay until it is terminated, and it is visible for some time longer.
func (s *Service) endInstance(i *instance, code, message string) {
	if i.state == instanceShuttingDown || i.state == instanceTerminated {
		return
	}
	s.core.CancelTransition(i.id)
	i.state, i.reasonCode, i.reasonMessage = instanceShuttingDown, code, message
	s.core.BeginTransition(core.InstanceTerminate, i.id, func(core.Transition) {
		i.state = instanceTerminated
		s.releaseInstance(i)
		if s.core.HasTransition(core.InstanceForget) {
			s.core.BeginTransition(core.InstanceForget, i.id, func(core.Transition) { s.instances.remove(i.id) })
		}
	})
}

// releaseInstance deletes the interfaces and volumes of an instance, or detaches them.
func (s *Service) releaseInstance(i *instance) {
	for _, one := range s.interfacesWith(i.id) {
		if !one.attachment.keep {
			s.interfaces.remove(one.id)
			continue
		}
		one.attachment, one.status = nil, interfaceAvailable
	}
	for _, v := range s.volumes.where(func(v *volume) bool { return v.instanceID == i.id }) {
		if !v.keep {
			s.volumes.remove(v.id)
			continue
		}
		v.instanceID, v.device = "", ""
	}
}

// InterruptInstance terminates an instance as AWS does when it needs the capacity of a spot instance.
func (s *Service) InterruptInstance(id string) error {
	i, err := s.instances.get(id)
	if err != nil {
		return err
	}
	s.endInstance(i, "Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination")
	return nil
}
