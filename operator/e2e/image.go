package main

import (
	"context"
	"fmt"
	"time"

	"commitlab.dev/demo/stage"
)

var imageCase = testCase{
	name:  "image",
	shows: "another image rolls through the servers, the master last",
	act: func(ctx context.Context, s *scene) error {
		return s.step(ctx, "image", 4*time.Minute, func(ctx context.Context) (string, error) {
			return s.rolls(ctx, "image", func() error { return s.setImage(ctx, s.place.next) })
		})
	},
}

func (s *scene) setImage(ctx context.Context, image string) error {
	if err := s.change(ctx, fmt.Sprintf(`{"spec":{"image":%q}}`, image)); err != nil {
		return err
	}
	return stage.Poll(ctx, func() (bool, error) {
		images, err := s.podFields(ctx, ".spec.containers[0].image")
		for pod, runs := range images {
			if runs != image {
				return false, fmt.Errorf("%s runs %s", pod, runs)
			}
		}
		return err == nil && len(images) == len(s.servers()), err
	})
}
