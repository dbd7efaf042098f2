"""What is counted in questions, documents and judgments, in pictures and in words; and what so many questions can show."""
