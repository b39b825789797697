package ec2

import (
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// describeTopology has the instances of types for which AWS tells where in its network they are. The fake has none of them.
func (s *Service) describeTopology(q *core.Request) (protocol.Struct, error) {
	for _, id := range q.In.Strings("InstanceIds") {
		if _, err := s.instances.get(id); err != nil {
			return nil, err
		}
	}
	return protocol.Struct{"Instances": []any{}}, nil
}

// VPCOfInstance returns the VPC of an instance that is not terminated; empty without one.
func (s *Service) VPCOfInstance(id string) string {
	if i, found := s.instances.find(id); found && i.state != instanceTerminated {
		return i.vpcID
	}
	return ""
}
