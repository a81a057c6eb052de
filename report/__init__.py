"""Pages with figures for people who would rather look than read: one HTML file, nothing fetched from anywhere."""
