package elb

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// Network is the part of EC2 in which load balancers have interfaces.
type Network interface {
	// AddInterface adds an interface of a load balancer in a subnet and returns its ID.
	AddInterface(subnetID, kind, description string, groups ...string) (string, error)
	RemoveInterface(id string)
	// SetInterfaceGroups replaces the security groups of an interface.
	SetInterfaceGroups(id string, groups []string) error
	// VPCOf returns the VPC and zone of a subnet.
	VPCOf(subnetID string) (vpcID, zone string, err error)
	// VPCOfInstance returns the VPC of an instance that is not terminated; empty without one.
	VPCOfInstance(id string) string
}

// Type is the type of a load balancer.
type Type string

// The types of load balancers.
const (
	Classic     Type = "classic"
	Application Type = "application"
	NetworkType Type = "network"
)

// LoadBalancer is what the operator creates. A target group is created with each that is not classic.
type LoadBalancer struct {
	Type    Type
	Name    string
	Subnets []string // IDs
	Groups  []string // IDs of security groups
	Tags    map[string]string
}

// Service is Elastic Load Balancing. Its methods run with the cloud's lock.
type Service struct {
	core      *core.Cloud
	network   Network
	balancers []*balancer
	targets   []*targetGroup
	listeners []*listener
}

type balancer struct {
	LoadBalancer

	arn, dnsName, vpcID string // classic ones have no ARN
	zones               []string
	interfaces          []string // one for each subnet
	created             time.Time
	scheme              string
	changedAttributes   map[string]string // of network load balancers
	classicSettings
}

type targetGroup struct {
	arn, name, vpcID string
	balancerARN      string // empty without a load balancer
	tags             map[string]string
	settings         protocol.Struct // as in requests and responses
	targets          []protocol.Struct
	// changedAttributes are those that were set.
	changedAttributes map[string]string
}

// New returns the service without load balancers, and registers its actions.
func New(shared *core.Cloud, network Network) (*Service, error) {
	s := &Service{core: shared, network: network}
	if err := shared.Register("elb", s.classicActions()); err != nil {
		return nil, err
	}
	actions := s.actions()
	maps.Copy(actions, s.networkActions())
	return s, shared.Register("elbv2", actions)
}

// Add creates a load balancer with its interfaces, as a controller in a cluster does, and returns its name, or its ARN if it is not classic.
func (s *Service) Add(l LoadBalancer) (string, error) {
	b, id, err := s.newBalancer(l)
	if err != nil {
		return "", err
	}
	s.balancers = append(s.balancers, b)
	if l.Type == Classic {
		b.classicSettings = newClassicSettings(nil)
		return l.Name, nil
	}
	s.targets = append(s.targets, &targetGroup{
		arn: s.core.ARN("elasticloadbalancing", s.core.Config.Region, "targetgroup/"+l.Name+"/"+id), name: l.Name, vpcID: b.vpcID, balancerARN: b.arn, tags: l.Tags,
		settings: protocol.Struct{"Protocol": "TCP", "Port": int64(443), "TargetType": "instance"},
	})
	return b.arn, nil
}

// newBalancer creates the interfaces of a load balancer, and returns it with its ID.
func (s *Service) newBalancer(l LoadBalancer) (*balancer, string, error) {
	if len(l.Subnets) == 0 {
		return nil, "", fmt.Errorf("creating load balancer %s: it needs a subnet", l.Name)
	}
	b := &balancer{LoadBalancer: l, created: s.core.Now(), scheme: internetFacing}
	b.Subnets = nil
	region := s.core.Config.Region
	id := core.NewKeyID("")
	description := "ELB " + l.Name
	switch l.Type {
	case Classic:
		b.dnsName = l.Name + "-1." + region + ".elb.amazonaws.com"
	case Application:
		description = "ELB app/" + l.Name + "/" + id
		b.dnsName = l.Name + "-1." + region + ".elb.amazonaws.com"
	default:
		description = "ELB net/" + l.Name + "/" + id
		b.dnsName = l.Name + "-1.elb." + region + ".amazonaws.com"
	}
	if l.Type != Classic {
		b.arn = s.core.ARN("elasticloadbalancing", region, "loadbalancer/"+description[len("ELB "):])
	}
	for _, subnet := range l.Subnets {
		if err := s.attach(b, subnet, description); err != nil {
			return nil, "", err
		}
	}
	return b, id, nil
}

// attach creates the interface of a load balancer in a subnet.
func (s *Service) attach(b *balancer, subnet, description string) error {
	kind := "interface"
	if b.Type == NetworkType {
		kind = "network_load_balancer"
	}
	vpcID, zone, err := s.network.VPCOf(subnet)
	if err != nil {
		return err
	}
	interfaceID, err := s.network.AddInterface(subnet, kind, description, b.Groups...)
	if err != nil {
		return err
	}
	b.vpcID, b.Subnets, b.zones, b.interfaces = vpcID, append(b.Subnets, subnet), append(b.zones, zone), append(b.interfaces, interfaceID)
	return nil
}

// Names lists the load balancers and target groups, as "loadbalancer/name" and "targetgroup/name", sorted.
func (s *Service) Names() []string {
	var out []string
	for _, b := range s.balancers {
		out = append(out, "loadbalancer/"+b.Name)
	}
	for _, t := range s.targets {
		out = append(out, "targetgroup/"+t.name)
	}
	slices.Sort(out)
	return out
}

// remove deletes a load balancer. Its interfaces go later, which is why its groups and subnets cannot be deleted at once.
func (s *Service) remove(b *balancer) {
	s.balancers = slices.DeleteFunc(s.balancers, func(other *balancer) bool { return other == b })
	for _, t := range s.targets {
		if t.balancerARN == b.arn {
			t.balancerARN = ""
		}
	}
	s.listeners = slices.DeleteFunc(s.listeners, func(l *listener) bool { return l.balancerARN == b.arn && b.arn != "" })
	for _, id := range b.interfaces {
		s.core.BeginTransition(core.LoadBalancerDelete, id, func(core.Transition) { s.network.RemoveInterface(id) })
	}
}

func tagList(tags map[string]string) []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, protocol.Struct{"Key": key, "Value": tags[key]})
	}
	return out
}

const (
	markerPrefix = "after-"
	pageSize     = 400 // without one in the request
)

// page returns the items after the marker, at most a page of them, and the marker of the next page or nil. A marker has the number of items before it.
func page[T any](q *core.Request, items []T) ([]T, any) {
	start, err := strconv.Atoi(strings.TrimPrefix(q.In.String("Marker"), markerPrefix))
	if err != nil {
		start = 0
	}
	items = items[min(start, len(items)):]
	size := pageSize
	if q.In.Has("PageSize") {
		size = int(q.In.Int("PageSize"))
	}
	if len(items) <= size {
		return items, nil
	}
	return items[:size], markerPrefix + strconv.Itoa(start+size)
}
