package conformance

func loadBalancers() []Behaviour {
	return []Behaviour{}
}
