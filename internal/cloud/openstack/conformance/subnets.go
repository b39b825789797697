package conformance

func subnets() []Behaviour {
	return []Behaviour{}
}
