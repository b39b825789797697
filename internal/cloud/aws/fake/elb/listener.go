package elb

import (
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// listener forwards a port of a load balancer that is not classic to a target group.
type listener struct {
	arn, balancerARN, groupARN string
	tags                       map[string]string
	view                       protocol.Struct
}

// createListener forwards a port to one target group, which no other load balancer uses.
func (s *Service) createListener(b *balancer, q *core.Request) (protocol.Struct, error) {
	group, err := forwardedTo(q.In.Structs("DefaultActions"))
	if err != nil {
		return nil, err
	}
	t := s.targetsWith(group)
	port := q.In.Int("Port")
	taken := slices.ContainsFunc(s.listeners, func(l *listener) bool { return l.balancerARN == b.arn && l.view.Int("Port") == port })
	switch {
	case t == nil:
		return nil, protocol.Fail("TargetGroupNotFound", "One or more target groups not found")
	case taken:
		return nil, protocol.Fail("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", b.arn)
	case t.balancerARN != "" && t.balancerARN != b.arn:
		return nil, protocol.Fail("TargetGroupAssociationLimit", "The following target groups cannot be associated with more than one load balancer: %s", t.arn)
	}
	l := &listener{arn: s.core.ARN("elasticloadbalancing", s.core.Config.Region, "listener/net/"+b.Name+"/"+core.NewKeyID("")), balancerARN: b.arn, groupARN: t.arn, tags: tagsIn(q.In)}
	l.view = protocol.Struct{
		"ListenerArn": l.arn, "LoadBalancerArn": b.arn, "Port": port, "Protocol": q.In["Protocol"], "DefaultActions": q.In["DefaultActions"],
	}
	t.balancerARN = b.arn
	s.listeners = append(s.listeners, l)
	return protocol.Struct{"Listeners": []any{l.view}}, nil
}

// forwardedTo returns the target group of a listener's actions, which may be named in either way.
func forwardedTo(actions []protocol.Struct) (string, error) {
	if len(actions) != 1 || actions[0].String("Type") != "forward" {
		return "", core.NotImplemented("actions but one to forward")
	}
	groups := actions[0].Struct("ForwardConfig").Structs("TargetGroups")
	switch len(groups) {
	case 0:
		return actions[0].String("TargetGroupArn"), nil
	case 1:
		return groups[0].String("TargetGroupArn"), nil
	default:
		return "", core.NotImplemented("actions with several target groups")
	}
}

func (s *Service) describeListeners(b *balancer, q *core.Request) (protocol.Struct, error) {
	var found []*listener
	for _, l := range s.listeners {
		if l.balancerARN == b.arn {
			found = append(found, l)
		}
	}
	found, next := page(q, found)
	views := []any{}
	for _, l := range found {
		views = append(views, l.view)
	}
	return protocol.Struct{"Listeners": views, "NextMarker": next}, nil
}

// onListener is an action on an existing listener.
func (s *Service) onListener(do func(l *listener) protocol.Struct) core.Handler {
	return func(q *core.Request) (protocol.Struct, error) {
		l := s.listenerWith(q.In.String("ListenerArn"))
		if l == nil {
			return nil, protocol.Fail("ListenerNotFound", "One or more listeners not found")
		}
		return do(l), nil
	}
}

func (s *Service) listenerWith(arn string) *listener {
	i := slices.IndexFunc(s.listeners, func(l *listener) bool { return l.arn == arn })
	if i < 0 {
		return nil
	}
	return s.listeners[i]
}

// describeListenerAttributes: a listener of a network load balancer has one attribute, if it is for TCP.
func describeListenerAttributes(l *listener) protocol.Struct {
	attributes := map[string]string{}
	if l.view.String("Protocol") == "TCP" {
		attributes["tcp.idle_timeout.seconds"] = "350"
	}
	return protocol.Struct{"Attributes": tagList(attributes)}
}

// ruleARN is the ARN of the default rule.
func (l *listener) ruleARN() string {
	return strings.Replace(l.arn, ":listener/", ":listener-rule/", 1) + "/default"
}

// describeRules: a listener of a network load balancer has one rule, which is the default.
func describeRules(l *listener) protocol.Struct {
	return protocol.Struct{"Rules": []any{protocol.Struct{
		"RuleArn": l.ruleARN(), "Priority": "default", "IsDefault": true,
		"Actions": l.view["DefaultActions"], "Conditions": []any{},
	}}}
}

// deleteListener releases the target group, unless another listener uses it.
func (s *Service) deleteListener(deleted *listener) protocol.Struct {
	s.listeners = slices.DeleteFunc(s.listeners, func(l *listener) bool { return l == deleted })
	used := slices.ContainsFunc(s.listeners, func(l *listener) bool { return l.groupARN == deleted.groupARN })
	if t := s.targetsWith(deleted.groupARN); t != nil && !used {
		t.balancerARN = ""
	}
	return protocol.Struct{}
}
