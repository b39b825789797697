package conformance

func volumes() []Behaviour {
	return []Behaviour{}
}
