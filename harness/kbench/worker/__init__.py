"""The untrusted side: holds one solution, answers the referee, is thrown away. Nothing else imports it."""
