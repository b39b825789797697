package ec2

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/netip"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// runInstances starts an instance. A request with the token of an earlier one is answered with the instance as it is now, also after its end.
func (s *Service) runInstances(q *core.Request) (protocol.Struct, error) {
	encoded, err := json.Marshal(q.In)
	if err != nil {
		return nil, err
	}
	token := q.In.String("ClientToken")
	if former := s.instances.where(func(i *instance) bool { return token != "" && i.token == token }); len(former) > 0 {
		if former[0].request != string(encoded) {
			return nil, core.TokenMismatch(token)
		}
		return s.viewInstanceReservation(former[0]), nil
	}
	i, volumes, interfaces, err := s.newInstance(q)
	if err != nil {
		return nil, err
	}
	if err := s.checkCapacity(i); err != nil {
		return nil, err
	}
	tags, err := tagsByKind(q, s.instances.kind, s.volumes.kind, s.interfaces.kind, "spot-instances-request")
	if err != nil {
		return nil, err
	}
	i.meta, i.token, i.request, i.reservationID = s.metaWith("i", tags[s.instances.kind]), token, string(encoded), s.core.NewID("r")
	for _, one := range interfaces {
		n, err := s.subnets.get(one.subnetID)
		if err != nil {
			return nil, err
		}
		one.meta, one.attachment.instanceID = s.metaWith("eni", tags[s.interfaces.kind]), i.id
		if s.addInterface(n, one); !one.hasSubnetAddress() {
			one.address = netip.Addr{}
		}
	}
	for _, v := range volumes {
		v.meta, v.instanceID, v.zone, v.created = s.metaWith("vol", tags[s.volumes.kind]), i.id, i.zone, i.launched
		s.volumes.add(v)
	}
	s.instances.add(i)
	s.core.BeginTransition(core.InstanceStart, i.id, func(t core.Transition) {
		if t.Fail {
			s.endInstance(i, t.Code, t.Code+": "+t.Message)
			return
		}
		i.state = instanceRunning
	})
	return s.viewInstanceReservation(i), nil
}

// newInstance reads an instance, its volumes and its interfaces from a request. Nothing is created yet.
func (s *Service) newInstance(q *core.Request) (*instance, []*volume, []*networkInterface, error) {
	in := q.In
	if in.Int("MinCount") != 1 || in.Int("MaxCount") != 1 {
		return nil, nil, nil, core.NotImplemented("several instances in one request")
	}
	if in.String("InstanceType") == "" {
		return nil, nil, nil, protocol.Fail("MissingParameter", "The request must contain the parameter InstanceType")
	}
	of, err := s.images.get(in.String("ImageId"))
	if err != nil {
		return nil, nil, nil, err
	}
	if name := in.String("KeyName"); name != "" && s.keyPairNamed(name) == nil {
		return nil, nil, nil, protocol.Fail("InvalidKeyPair.NotFound", "The key pair '%s' does not exist", name)
	}
	if err := checkUserData(in.String("UserData")); err != nil {
		return nil, nil, nil, err
	}
	volumes, err := s.volumesOf(q, of)
	if err != nil {
		return nil, nil, nil, err
	}
	interfaces, err := s.interfacesOf(q)
	if err != nil {
		return nil, nil, nil, err
	}
	first, err := s.subnets.get(interfaces[0].subnetID)
	if err != nil {
		return nil, nil, nil, err
	}
	i := &instance{
		imageID: of.id, rootDevice: of.rootDevice, kind: in.String("InstanceType"), keyName: in.String("KeyName"), zone: first.zone, vpcID: first.vpcID,
		subnetID: first.id, hostnameType: first.hostnameType, market: in.Struct("InstanceMarketOptions").String("MarketType"), userData: in.String("UserData"),
		ebsOptimized: in.Bool("EbsOptimized"), monitoring: in.Struct("Monitoring").Bool("Enabled"), state: instancePending, launched: s.core.Now(),
		cpuOptions: in.Struct("CpuOptions"), metadataOptions: protocol.Struct{"State": "applied"}, placement: protocol.Struct{"Tenancy": "default"},
	}
	maps.Copy(i.metadataOptions, in.Struct("MetadataOptions"))
	maps.Copy(i.placement, in.Struct("Placement"))
	i.placement["AvailabilityZone"] = first.zone
	return i, volumes, interfaces, s.findProfile(q, i)
}

// findProfile reads the instance profile. EC2 sees a new one some seconds after IAM.
func (s *Service) findProfile(q *core.Request, i *instance) error {
	if !q.In.Has("IamInstanceProfile") {
		return nil
	}
	wanted := q.In.Struct("IamInstanceProfile")
	var found bool
	if i.profileARN, i.profileID, found = s.profiles.FindProfile(q, wanted.String("Name"), wanted.String("Arn")); found {
		return nil
	}
	if wanted.Has("Arn") {
		return protocol.Fail("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.arn is invalid. Invalid IAM Instance Profile ARN", wanted.String("Arn"))
	}
	return protocol.Fail("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", wanted.String("Name"))
}

// maxUserData is the maximum length of user data before it is encoded.
const maxUserData = 16384

func checkUserData(encoded string) error {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return protocol.Fail("InvalidParameterValue", "Invalid BASE64 encoding of user data.")
	}
	if len(raw) > maxUserData {
		return protocol.Fail("InvalidParameterValue", "User data is limited to %d bytes", maxUserData)
	}
	return nil
}

// checkCapacity checks the quotas of the account, and the hardware of the zone.
func (s *Service) checkCapacity(wanted *instance) error {
	vcpus, inZone := vcpusOf(wanted.kind), 0
	running := s.instances.where(func(i *instance) bool { return i.state != instanceTerminated })
	for _, i := range running {
		if i.market == "" {
			vcpus += vcpusOf(i.kind)
		}
		if i.zone == wanted.zone {
			inZone++
		}
	}
	switch {
	case !s.core.HasRoom(QuotaInstances, len(running)):
		return protocol.Fail("InstanceLimitExceeded", "You have requested more instances (%d) than your current instance limit of %d allows for the specified instance type.",
			len(running)+1, s.core.Config.Quotas[QuotaInstances])
	case wanted.market == "" && !s.core.HasRoom(QuotaVCPUs, vcpus-1):
		return protocol.Fail("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the "+
			"specified instance type belongs to.", s.core.Config.Quotas[QuotaVCPUs])
	case !s.core.HasRoom(QuotaCapacity(wanted.zone), inZone):
		return protocol.Fail("InsufficientInstanceCapacity", "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s).", wanted.kind, wanted.zone)
	}
	return nil
}

// vcpusOf is the number of vCPUs of an instance type, by its size.
func vcpusOf(kind string) int {
	_, size, _ := strings.Cut(kind, ".")
	many, isMany := strings.CutSuffix(size, "xlarge")
	times, err := strconv.Atoi(many)
	switch {
	case isMany && err == nil:
		return 4 * times
	case isMany:
		return 4
	default:
		return 2
	}
}
