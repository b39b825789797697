package aws

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"sync"
)

// LoadBalancer is a load balancer of either version: a classic one, or an application or network load balancer.
type LoadBalancer struct {
	// ARN identifies a load balancer of the second version; it is empty for a classic one, which its Name identifies.
	ARN, Name, VPCID string
	Tags             Tags
}

// TargetGroup is what a load balancer of the second version sends connections to.
type TargetGroup struct {
	ARN, Name, VPCID string
	// LoadBalancerARNs are those that use it.
	LoadBalancerARNs []string
	Tags             Tags
}

// The limits of one request: names or ARNs in DescribeTags, and load balancers in a page.
const (
	maxDescribedTags = 20
	loadBalancerPage = 400
)

// ListLoadBalancers returns the load balancers of both versions in a VPC, with their tags: one request for each version and page, and one for the tags of 20.
func (s *Session) ListLoadBalancers(ctx context.Context, vpcID string) ([]LoadBalancer, error) {
	var classic, second []LoadBalancer
	var classicErr, secondErr error
	var both sync.WaitGroup
	both.Go(func() { classic, classicErr = s.listClassic(ctx, vpcID) })
	both.Go(func() { second, secondErr = s.listSecond(ctx, vpcID) })
	both.Wait()
	return slices.Concat(classic, second), errors.Join(classicErr, secondErr)
}

func (s *Session) listClassic(ctx context.Context, vpcID string) ([]LoadBalancer, error) {
	var found []LoadBalancer
	err := s.eachQueryPage(ctx, elbService(), "DescribeLoadBalancers", func() (any, func() string) {
		var page struct {
			LoadBalancers []struct {
				Name  string `xml:"LoadBalancerName"`
				VPCID string `xml:"VPCId"`
			} `xml:"DescribeLoadBalancersResult>LoadBalancerDescriptions>member"`
			Next string `xml:"DescribeLoadBalancersResult>NextMarker"`
		}
		return &page, func() string {
			for _, one := range page.LoadBalancers {
				if one.VPCID == vpcID {
					found = append(found, LoadBalancer{Name: one.Name, VPCID: one.VPCID})
				}
			}
			return page.Next
		}
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(found))
	for i := range found {
		names = append(names, found[i].Name)
	}
	tags, err := s.readLoadBalancerTags(ctx, elbService(), "LoadBalancerNames", names)
	for i := range found {
		found[i].Tags = tags[found[i].Name]
	}
	return found, err
}

func (s *Session) listSecond(ctx context.Context, vpcID string) ([]LoadBalancer, error) {
	var found []LoadBalancer
	err := s.eachQueryPage(ctx, elbv2Service(), "DescribeLoadBalancers", func() (any, func() string) {
		var page struct {
			LoadBalancers []struct {
				ARN   string `xml:"LoadBalancerArn"`
				Name  string `xml:"LoadBalancerName"`
				VPCID string `xml:"VpcId"`
			} `xml:"DescribeLoadBalancersResult>LoadBalancers>member"`
			Next string `xml:"DescribeLoadBalancersResult>NextMarker"`
		}
		return &page, func() string {
			for _, one := range page.LoadBalancers {
				if one.VPCID == vpcID {
					found = append(found, LoadBalancer{ARN: one.ARN, Name: one.Name, VPCID: one.VPCID})
				}
			}
			return page.Next
		}
	})
	if err != nil {
		return nil, err
	}
	arns := make([]string, 0, len(found))
	for i := range found {
		arns = append(arns, found[i].ARN)
	}
	tags, err := s.readLoadBalancerTags(ctx, elbv2Service(), "ResourceArns", arns)
	for i := range found {
		found[i].Tags = tags[found[i].ARN]
	}
	return found, err
}

// ListTargetGroups returns the target groups in a VPC, with their tags.
func (s *Session) ListTargetGroups(ctx context.Context, vpcID string) ([]TargetGroup, error) {
	var found []TargetGroup
	err := s.eachQueryPage(ctx, elbv2Service(), "DescribeTargetGroups", func() (any, func() string) {
		var page struct {
			TargetGroups []struct {
				ARN              string   `xml:"TargetGroupArn"`
				Name             string   `xml:"TargetGroupName"`
				VPCID            string   `xml:"VpcId"`
				LoadBalancerARNs []string `xml:"LoadBalancerArns>member"`
			} `xml:"DescribeTargetGroupsResult>TargetGroups>member"`
			Next string `xml:"DescribeTargetGroupsResult>NextMarker"`
		}
		return &page, func() string {
			for _, one := range page.TargetGroups {
				if one.VPCID == vpcID {
					found = append(found, TargetGroup{ARN: one.ARN, Name: one.Name, VPCID: one.VPCID, LoadBalancerARNs: one.LoadBalancerARNs})
				}
			}
			return page.Next
		}
	})
	if err != nil {
		return nil, err
	}
	arns := make([]string, 0, len(found))
	for i := range found {
		arns = append(arns, found[i].ARN)
	}
	tags, err := s.readLoadBalancerTags(ctx, elbv2Service(), "ResourceArns", arns)
	for i := range found {
		found[i].Tags = tags[found[i].ARN]
	}
	return found, err
}

// eachQueryPage requests the pages of a list. newPage returns the value that a page is decoded into, and a function that takes over what it contains and
// returns the token of the next one.
func (s *Session) eachQueryPage(ctx context.Context, to service, action string, newPage func() (page any, take func() (next string))) error {
	o := to.operation(action, reads)
	return eachPage(o, func(token string) (string, error) {
		parameters := url.Values{"PageSize": {strconv.Itoa(loadBalancerPage)}}
		if token != "" {
			parameters.Set("Marker", token)
		}
		page, take := newPage()
		if err := s.query(ctx, to, o, parameters, page); err != nil {
			return "", err
		}
		return take(), nil
	})
}

// readLoadBalancerTags returns the tags of resources by what they are listed by in the parameter: classic load balancers by name, the others by ARN.
func (s *Session) readLoadBalancerTags(ctx context.Context, to service, parameter string, ids []string) (map[string]Tags, error) {
	all := map[string]Tags{}
	for chunk := range slices.Chunk(ids, maxDescribedTags) {
		var listed struct {
			Descriptions []struct {
				Name string                        `xml:"LoadBalancerName"`
				ARN  string                        `xml:"ResourceArn"`
				Tags []struct{ Key, Value string } `xml:"Tags>member"`
			} `xml:"DescribeTagsResult>TagDescriptions>member"`
		}
		if err := s.query(ctx, to, to.operation("DescribeTags", reads), members(parameter, chunk), &listed); err != nil {
			return nil, err
		}
		for _, one := range listed.Descriptions {
			tags := Tags{}
			for _, tag := range one.Tags {
				tags[tag.Key] = tag.Value
			}
			all[one.Name+one.ARN] = tags // one of them is empty
		}
	}
	return all, nil
}

// DeleteLoadBalancer deletes a load balancer of either version. One that does not exist is no error. Its interfaces vanish some seconds later.
func (s *Session) DeleteLoadBalancer(ctx context.Context, balancer LoadBalancer) error {
	if balancer.ARN == "" {
		return s.query(ctx, elbService(), elbService().operation("DeleteLoadBalancer", settles), url.Values{"LoadBalancerName": {balancer.Name}}, nil)
	}
	return s.query(ctx, elbv2Service(), elbv2Service().operation("DeleteLoadBalancer", settles), url.Values{"LoadBalancerArn": {balancer.ARN}}, nil)
}

// DeleteTargetGroup deletes a target group. It fails with cloud.InUse while a load balancer uses it.
func (s *Session) DeleteTargetGroup(ctx context.Context, arn string) error {
	return s.query(ctx, elbv2Service(), elbv2Service().operation("DeleteTargetGroup", settles), url.Values{"TargetGroupArn": {arn}}, nil)
}
